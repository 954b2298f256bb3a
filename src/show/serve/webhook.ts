/**
 * Tells an address of the configuration that a question waits, beside the calls and never before
 * them.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type JsonObject, limits, toText } from '#model'
import { onQuestion } from '#show/approvals'
import type { Question, Verbs } from '#verbs'

type Webhook = { address: () => string | null; log: (line: string) => void }

/**
 * Each question is posted once by each gateway of the home, one after the other. A post that fails
 * is repeated `webhookTriesMax` times in all, as long as the question is open. Undone by what comes
 * back.
 */
export function openWebhook(verbs: Verbs, { address, log }: Webhook): () => void {
  const over = new AbortController()
  const waiting: Question[] = []
  let isSending = false

  const sendAll = async () => {
    for (let question = waiting.shift(); question !== undefined; question = waiting.shift()) {
      const url = address()
      if (url !== null && !over.signal.aborted) await deliver(url, question).catch(() => {})
    }
    isSending = false
  }

  const deliver = async (url: string, question: Question) => {
    const isOpen = () => verbs.approvals().some(({ id }) => id === question.id)
    let problem = ''
    for (let tries = 0; tries < limits.webhookTriesMax && isOpen(); tries++) {
      if (tries > 0) await pause(limits.webhookPauseMs * 5 ** (tries - 1), null, { signal: over.signal, ref: false })
      problem = await post(url, question)
      if (problem === '') return
    }
    // The address may hold a secret: only its host is named.
    if (problem !== '') log(`Cannot tell ${new URL(url).host} that ${question.id} waits: ${problem}`)
  }

  const post = async (url: string, question: Question): Promise<string> => {
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(limits.webhookMsMax)])
    try {
      const request = signedRequest(question, verbs.sign)
      const response = await fetch(url, { ...request, method: 'POST', redirect: 'error', signal })
      await response.body?.cancel()
      return response.ok ? '' : `it answered ${response.status}`
    } catch (error) {
      return (error as Error).message
    }
  }

  const stop = onQuestion(verbs, (question) => {
    if (address() === null || waiting.length >= limits.webhookPendingMax) return
    waiting.push(question)
    if (isSending) return
    isSending = true
    void sendAll()
  })
  return () => {
    stop()
    over.abort()
  }
}

/**
 * Ed25519 by the key of the home, over the time, a full stop and the body; the arguments of the
 * call stay here.
 */
function signedRequest(question: Question, sign: Verbs['sign']): { body: string; headers: Record<string, string> } {
  const { id, run, call, tool, effect, why, expiresAt, url, command } = question
  const body = toText({
    type: 'approval.asked',
    id,
    run,
    call,
    tool,
    effect,
    why,
    expiresAt,
    url,
    command,
  } as JsonObject)
  const at = new Date().toISOString()
  const { key, signature } = sign(`${at}.${body}`)
  const headers = {
    'content-type': 'application/json',
    'metier-timestamp': at,
    'metier-key': key,
    'metier-signature': `ed25519=${signature}`,
  }
  return { body, headers }
}
