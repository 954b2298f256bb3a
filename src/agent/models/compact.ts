/**
 * What the next request shows of a session: all of it while that fits; beyond, older steps shrink
 * to the thought and the ends of what was printed. A pure function, so that resuming asks the same.
 */
import { limits } from '#model'
import type { Message } from './model.ts'

/** One step: what the model answered, and what it was told of it. */
export type Step = {
  answer: Message
  /** What followed, as the next request shows it whole. */
  replies: Message[]
  /** What is left of the answer when the step is old. */
  thought: string
  /** What was printed or answered, with the place of all of it. */
  streams: { name: string; text: string; place: string }[]
}

type History = { system: string; goal: Message[]; steps: Step[] }

/**
 * The messages of the next request. One answer of the model stays one message of it, so that their
 * number says which call this is.
 */
export function compact({ system, goal, steps }: History, contextTokens: number): Message[] {
  const all = [...goal, ...steps.flatMap(wholeStep)]
  if (!isTooLong(system, all, contextTokens)) return all
  const old = Math.max(0, steps.length - limits.historyWholeSteps)
  return [...goal, ...steps.flatMap((step, index) => (index < old ? shortStep(step) : wholeStep(step)))]
}

/** A careful guess: text has about four bytes a token, code and JSON fewer. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / 3)
}

function isTooLong(system: string, messages: Message[], contextTokens: number): boolean {
  const bytes = Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(messages))
  return bytes > limits.historyBytesMax || 100 * estimateTokens(bytes) > limits.historyWindowPercent * contextTokens
}

function wholeStep({ answer, replies }: Step): Message[] {
  return [answer, ...replies]
}

/** Tool calls go together with their results: a provider refuses one without the other. */
function shortStep({ thought, streams }: Step): Message[] {
  const shown = streams.map(
    ({ name, text, place }) => `[${name}] ${text.length} characters, all of it is ${place}\n${ends(text)}`,
  )
  const reply = ['(An earlier step, shortened.)', ...shown].join('\n')
  return [
    { role: 'assistant', text: thought === '' ? '(No thought was given.)' : thought },
    { role: 'user', text: reply },
  ]
}

/** Head and tail; never half of a surrogate pair. */
function ends(text: string): string {
  const size = limits.historyStreamCharacters
  if (text.length <= 2 * size) return text
  const head = text.slice(0, size).replace(/[\ud800-\udbff]$/, '')
  const tail = text.slice(-size).replace(/^[\udc00-\udfff]/, '')
  return `${head}\n… ${text.length - head.length - tail.length} characters left out …\n${tail}`
}
