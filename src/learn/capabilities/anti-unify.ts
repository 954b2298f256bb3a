/**
 * Programs of one shape become one program with parameters: literals that varied between runs, or
 * that stand in the intent, are lifted; the others stay as they are.
 */
import { isSecretName, type Json } from '#model'
import type { CanonicalProgram } from '#run'

/** A placeholder of a secret means nothing outside of its run. */
export const hasSecret = (value: Json) => JSON.stringify(value).includes('«secret:')

/** What a person would keep quiet about: a placeholder is in it, or the name says so. */
export function isSecret(name: string | null, value: Json): boolean {
  return hasSecret(value) || (typeof value === 'string' && name !== null && namesSecret(name))
}

/** `key` alone names many things; `api_key` does not. */
const namesSecret = (name: string) => /(?:api|access)[-_]?key$/i.test(name) || isSecretName(name.replace(/key$/i, ''))

type Example = { intent: string; program: CanonicalProgram }

/**
 * `literals` are the places of the parameter among the program's literals, `key` what the first is
 * given under, `values` one a run.
 */
export type Parameter = { name: string; key: string | null; literals: number[]; values: Json[] }

/** The parameters of programs that have one shape; null where they have not. `taken` are names. */
export function parametersOf(examples: readonly Example[], taken: readonly string[] = []): Parameter[] | null {
  const [first] = examples
  if (first === undefined || examples.some(({ program }) => program.shape !== first.program.shape)) return null
  const columns = first.program.literals.map((literal, at) => ({
    key: literal.key,
    at,
    values: examples.map(({ program }) => program.literals[at]!.value),
  }))
  const lifted = columns.filter(
    ({ key, values }) => isVaried(values) || isAsked(values, examples) || values.some((value) => isSecret(key, value)),
  )
  // Literals that always had the same values were one thing to whoever wrote them.
  const groups = Map.groupBy(lifted, ({ values }) => JSON.stringify(values))
  const names = new Set(taken)
  return [...groups.values()].map((group) => {
    const key = group.find((one) => one.key !== null)?.key ?? null
    return { name: freeName(key ?? 'value', names), key, literals: group.map(({ at }) => at), values: group[0]!.values }
  })
}

const isVaried = (values: Json[]) => new Set(values.map((value) => JSON.stringify(value))).size > 1

/** Every intent names its value; truths and single digits are named by chance. */
function isAsked(values: Json[], examples: readonly Example[]): boolean {
  return values.every((value, at) => {
    const text = String(value)
    if (typeof value === 'boolean' || text.length < 2) return false
    const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    return new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, 'iu').test(examples[at]!.intent)
  })
}

function freeName(wanted: string, names: Set<string>): string {
  const plain = wanted.replace(/[^\p{ID_Continue}$]/gu, '_').replace(/^(?![\p{ID_Start}$_])/u, '_') || 'value'
  let name = plain
  for (let count = 2; names.has(name); count++) name = `${plain}${count}`
  names.add(name)
  return name
}

/**
 * The source with its literals replaced by members of `args`, and without its comments: whatever
 * they say, they do nothing, and would be read as if they were ours.
 */
export function liftLiterals(source: string, program: CanonicalProgram, parameters: readonly Parameter[]): string {
  const lifted = parameters.flatMap(({ name, literals }) =>
    literals.map((at) => ({ ...program.literals[at]!, text: `args.${name}` })),
  )
  const comments = program.comments.map(({ start, end }) => ({ start, end, text: breakIn(source.slice(start, end)) }))
  let text = source
  for (const { start, end, text: put } of [...lifted, ...comments].sort((a, b) => b.start - a.start)) {
    // What stood against a word by its quotes or its sign alone does not any more.
    const before = /[\p{ID_Continue}$]$/u.test(text.slice(Math.max(0, start - 2), start)) ? ' ' : ''
    const after = /^[\p{ID_Continue}$]/u.test(text.slice(end, end + 2)) ? ' ' : ''
    text = `${text.slice(0, start)}${before}${put}${after}${text.slice(end)}`
  }
  return text
}

/** A comment over several lines ends the line, which may end a statement. */
const breakIn = (comment: string) => (comment.includes('\n') ? '\n' : '')
