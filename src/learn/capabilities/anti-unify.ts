/**
 * Programs of one shape become one program with parameters: literals that varied between runs, or
 * that stand in the intent, are lifted; the others stay as they are.
 */
import type { Json } from '#model'
import type { CanonicalProgram } from '#run'

/** A placeholder of a secret means nothing outside of its run. */
export const hasSecret = (value: Json) => JSON.stringify(value).includes('«secret:')

type Example = { intent: string; program: CanonicalProgram }

/** `literals` are the places of the parameter among the program's literals, `values` one a run. */
export type Parameter = { name: string; literals: number[]; values: Json[] }

/** The parameters of programs that have one shape; null where they have not. `taken` are names. */
export function parametersOf(examples: readonly Example[], taken: readonly string[] = []): Parameter[] | null {
  const [first] = examples
  if (first === undefined || examples.some(({ program }) => program.shape !== first.program.shape)) return null
  const columns = first.program.literals.map((literal, at) => ({
    key: literal.key,
    at,
    values: examples.map(({ program }) => program.literals[at]!.value),
  }))
  const lifted = columns.filter(({ values }) => isVaried(values) || isAsked(values, examples) || values.some(hasSecret))
  // Literals that always had the same values were one thing to whoever wrote them.
  const groups = Map.groupBy(lifted, ({ values }) => JSON.stringify(values))
  const names = new Set(taken)
  return [...groups.values()].map((group) => {
    const name = freeName(group.find(({ key }) => key !== null)?.key ?? 'value', names)
    return { name, literals: group.map(({ at }) => at), values: group[0]!.values }
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
  const plain = wanted.replace(/[^\p{L}\p{N}_]/gu, '_').replace(/^(?=\d)/, '_') || 'value'
  let name = plain
  for (let count = 2; names.has(name); count++) name = `${plain}${count}`
  names.add(name)
  return name
}

/** The source with its literals replaced by members of `args`. */
export function liftLiterals(source: string, program: CanonicalProgram, parameters: readonly Parameter[]): string {
  const cuts = parameters.flatMap(({ name, literals }) => literals.map((at) => ({ name, ...program.literals[at]! })))
  let text = source
  for (const { name, start, end } of cuts.sort((a, b) => b.start - a.start)) {
    text = `${text.slice(0, start)}args.${name}${text.slice(end)}`
  }
  return text
}
