/** What a gateway does so that somebody hears of a question: a line at its terminal, and a post to the webhook. */
import type { Config } from '#model'
import type { Verbs } from '#verbs'
import type { Context } from './command.ts'
import { onQuestion } from './on-question.ts'
import { questionLine } from './question-text.ts'
import { openWebhook } from './webhook.ts'

/** `config` is the one that holds now. Undone by what comes back. */
export function tellQuestions({ note, config: { home } }: Context, verbs: Verbs, config: () => Config): () => void {
  const hush = onQuestion(verbs, (question) => note(questionLine(question)))
  const unhook = openWebhook(verbs, { home, address: () => config().approvals.webhook, log: note })
  return () => {
    hush()
    unhook()
  }
}
