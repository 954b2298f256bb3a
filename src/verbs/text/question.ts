/**
 * A question to a human as it is shown: which call, with which arguments, where they came from, and
 * why it is asked.
 */
import { type ArgumentOrigin, effectUnknown, escapeInvisible, limits, splitToolId } from '#model'

/** What of a question is shown here. */
type Question = { tool: string; args: unknown; why: string; from?: ArgumentOrigin[] | null }
type MayCall = { tool: string; lines: readonly number[]; then?: unknown; danger?: unknown }
type PlanPreview = { mayCall: readonly MayCall[]; isWhole: boolean; unread?: string }

/**
 * Arguments are an agent's words: shown as JSON, without anything that could hide or turn around a
 * part of them.
 */
export function argumentsText({ args }: Pick<Question, 'args'>): { text: string; isWhole: boolean } {
  return shortened(escapeInvisible(JSON.stringify(args, null, 2)))
}

/** The same on one line, for hosts that show few lines and return line breaks as something else. */
export function argumentsLine({ args }: Pick<Question, 'args'>): { text: string; isWhole: boolean } {
  return shortened(escapeInvisible(JSON.stringify(args)))
}

function shortened(text: string): { text: string; isWhole: boolean } {
  const most = limits.shownArgumentsCharactersMax
  return text.length <= most ? { text, isWhole: true } : { text: `${text.slice(0, most)} …`, isWhole: false }
}

/** How to end the questions about a tool whose effect is unknown: one line, or none. */
export function adviceLines({ tool, why }: Pick<Question, 'tool' | 'why'>): string[] {
  const { server, name } = splitToolId(tool) ?? { server: '', name: '' }
  if (!why.includes(effectUnknown) || name === '') return []
  const line = `"effects": { ${JSON.stringify(name)}: "read" }`
  return [
    escapeInvisible(
      `Effect unknown. To end this: ${line} for ${server} in metier.json, if that is true ("metier effects suggest ${server}" proposes classes), or --always`,
    ),
  ]
}

/** Where the arguments came from, on one line: those with the same origin stand together. */
export function originLine({ from }: Pick<Question, 'from'>): string {
  const origins = Map.groupBy(from ?? [], sourceOf)
  if (origins.size === 0) return 'From: not known'
  const parts = [...origins].map(([source, list]) => `${list.map(({ path }) => path || 'all').join(', ')} ${source}`)
  return escapeInvisible(`From: ${parts.join('; ')}`)
}

/** One line for each argument of which it is known where it came from. */
export function originLines({ from }: Pick<Question, 'from'>): string[] {
  return (from ?? []).map((origin) => escapeInvisible(`${origin.path || 'all'}: ${sourceOf(origin)}`))
}

function sourceOf(origin: ArgumentOrigin): string {
  return `${origin.computed ? 'made from ' : ''}${wordsOf(origin)}`
}

function wordsOf({ source, call, resultPath = '', line }: ArgumentOrigin): string {
  const place = line === undefined ? '' : `, line ${line}`
  if (source === 'literal') return `the program's own text${place}`
  if (source === 'args') return `the arguments of the run${place}`
  return `the result of call ${call}${resultPath === '' ? '' : ` at ${resultPath}`}${place}`
}

/**
 * What the plan may call, and what policy would say of it where that is known: one line, or none.
 */
export function mayCallLines({ mayCall, isWhole, unread }: Partial<PlanPreview>): string[] {
  if (mayCall === undefined) return []
  const tools = mayCall.map(({ tool, lines, then, danger }) => {
    const where = lines.length === 0 ? '' : ` (line ${lines.join(', ')})`
    const said = [then, danger].filter((word) => typeof word === 'string' && word !== 'allow')
    return `${tool}${where}${said.length === 0 ? '' : ` [${said.join(': ')}]`}`
  })
  const open =
    isWhole === true ? [] : [unread === undefined ? 'others that only the run can tell' : `anything: ${unread}`]
  const all = [...tools, ...open]
  return all.length === 0 ? [] : [escapeInvisible(`may call ${all.join(', ')}`)]
}
