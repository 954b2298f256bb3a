/** How a gateway announces a question: a line at its terminal, and a post to the webhook. */
import type { Config } from '#model'
import { onQuestion } from '#show/approvals'
import type { Context } from '#show/cli'
import { questionLine } from '#show/text'
import type { Verbs } from '#verbs'
import { openWebhook } from './webhook.ts'

/** `config` is the one that holds now. Undone by what comes back. */
export function announceQuestions({ note }: Context, verbs: Verbs, config: () => Config): () => void {
  const hush = onQuestion(verbs, (question) => note(questionLine(question)))
  const unhook = openWebhook(verbs, { address: () => config().approvals.webhook, log: note })
  return () => {
    hush()
    unhook()
  }
}
