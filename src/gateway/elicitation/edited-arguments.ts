/**
 * Reads the arguments that a human edited in a host's form, where the host may have damaged the
 * text on its way back.
 */
import type { Json } from '#model'
import { DecisionError } from '#verbs'

/**
 * `shown` is the text that stood in the form. Text that parses counts by its value, so that also a
 * changed space inside a string is a change. Text that does not parse, or in which the host
 * replaced characters (U+FFFD), counts as unchanged where it differs from `shown` by white space
 * and such replacements only, and is refused otherwise.
 */
export function parseEditedArguments(args: Json, shown: string, given: string): { args?: Json } {
  const isReplaced = given.includes(replacement) && !shown.includes(replacement)
  const read = isReplaced ? { problem: 'the host replaced characters in them' } : parseJson(given)
  if ('value' in read) return JSON.stringify(read.value) === JSON.stringify(args) ? {} : { args: read.value }
  if (isDamaged(shown, given)) return {}
  const details = read.problem
  throw new DecisionError('arguments', 'INVALID_INPUT_PARAM', `Cannot read the arguments: ${details}`, {
    param: 'args',
    details,
  })
}

const replacement = '\u{fffd}'

/**
 * Each run of replacement characters stands for at most twice as many UTF-16 units; white space
 * counts nowhere.
 */
function isDamaged(shown: string, given: string): boolean {
  const rest = shown.replaceAll(/\s+/g, '')
  const [first = '', ...others] = given.replaceAll(/\s+/g, '').split(/(\u{fffd}+)/u)
  if (!rest.startsWith(first)) return false
  let at = first.length
  for (let i = 0; i < others.length; i += 2) {
    const isLast = i + 2 >= others.length
    const found = isLast ? rest.length - others[i + 1]!.length : rest.indexOf(others[i + 1]!, at)
    if (found < at || found - at > others[i]!.length * 2 || !rest.startsWith(others[i + 1]!, found)) return false
    at = found + others[i + 1]!.length
  }
  return at === rest.length
}

function parseJson(text: string): { value: Json } | { problem: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { problem: `they are not JSON (${(error as Error).message})` }
  }
}
