/**
 * How a changed definition looks at a terminal: all of what is new, with nothing in it that a
 * person could not see.
 */
import { escapeInvisible, limits, type ToolDiff } from '#model'
import { bad, faint, good } from '#show/cli'

export function toolDiffText(diff: ToolDiff): string[] {
  return diff.flatMap(({ field, before, after }) => {
    const [old, now] =
      typeof before === 'string' && typeof after === 'string' ? apart(before, after) : [textOf(before), textOf(after)]
    return [
      `    ${escapeInvisible(field.slice(1).replaceAll('/', ' › '))}`,
      ...(old === null ? [] : [`      ${bad('-')} ${bounded(old)}`]),
      ...(now === null ? [] : [`      ${good('+')} ${bounded(now)}`]),
    ]
  })
}

function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

/** Of two texts what differs, with a little of what they share before it. */
function apart(before: string, after: string): [string, string] {
  let start = 0
  while (start < before.length && before[start] === after[start]) start++
  const from = Math.max(0, before.lastIndexOf(' ', start - shared))
  const cut = (text: string) => `${from > 0 ? '…' : ''}${text.slice(from)}`
  return [cut(before), cut(after)]
}

/** Characters that are shown of what did not change. */
const shared = 24

/** Says how much was cut: a long text is a place to hide a change. */
function bounded(text: string): string {
  const most = limits.diffCharactersMax
  const rest = text.length - most
  return rest <= 0
    ? inside(text)
    : `${inside(text.slice(0, most))}${faint(` … and ${rest} characters more: see --json`)}`
}

/** A new line in it begins no line of ours. */
function inside(text: string): string {
  return escapeInvisible(text).replaceAll('\n', '\n        ')
}
