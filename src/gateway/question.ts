/** A question to a human as it is shown: which call, with which arguments, where they came from, and why it is asked. */
import { type JsonObject, limits, visible } from '#model'

/** One of the approvals in an answer of execute. */
export type Question = {
  id: string
  run: string
  call: string
  tool: string
  effect: string | null
  args: JsonObject
  from: JsonObject | null
  why: string
  expiresAt: string
  url: string | null
  command: string
}

/** Arguments are an agent's words: shown as JSON, without anything that could hide or turn around a part of them. */
export function argumentsText({ args }: Pick<Question, 'args'>): { text: string; isWhole: boolean } {
  const text = visible(JSON.stringify(args, null, 2))
  const most = limits.shownArgumentsCharactersMax
  return text.length <= most ? { text, isWhole: true } : { text: `${text.slice(0, most)} …`, isWhole: false }
}

/** Each origin as a line: which argument, and what it was taken from. */
export function originLines({ from }: Pick<Question, 'from'>): string[] {
  return Object.entries(from ?? {}).map(([pointer, origin]) => visible(`${pointer || 'all'}: ${wordsOf(origin)}`))
}

function wordsOf(origin: unknown): string {
  return typeof origin === 'string' ? origin : JSON.stringify(origin)
}
