/** A question to a human as it is shown: which call, with which arguments, where they came from, and why it is asked. */
import { type ArgumentOrigin, type JsonObject, limits, visible } from '#model'

/** One of the approvals in an answer of execute. */
export type Question = {
  id: string
  run: string
  call: string
  tool: string
  effect: string | null
  args: JsonObject
  from: ArgumentOrigin[] | null
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

/** One line for each argument of which it is known where it came from. */
export function originLines({ from }: Pick<Question, 'from'>): string[] {
  return (from ?? []).map((origin) =>
    visible(`${origin.path || 'all'}: ${origin.computed ? 'made from ' : ''}${wordsOf(origin)}`),
  )
}

function wordsOf({ source, call, resultPath = '', line }: ArgumentOrigin): string {
  const place = line === undefined ? '' : `, line ${line}`
  if (source === 'literal') return `the program's own text${place}`
  if (source === 'args') return `the arguments of the run${place}`
  return `the result of call ${call}${resultPath === '' ? '' : ` at ${resultPath}`}${place}`
}
