/**
 * What is said of a built-in tool, as one typed source: the short text that is searched, and the
 * whole that an agent can ask for.
 */
import { AppError, type ContextOf, type ErrorCode, type Json, type JsonObject, toText } from '#model'

type Parameter = {
  name: string
  type: string
  /** What it means, its format and what it must fulfil. */
  text: string
  /** What holds where it is left out; absent where it is required. */
  ifOmitted?: string
}

export type Documentation = {
  /** One sentence. */
  objective: string
  /** What it is for, how it works, and what it leaves behind. */
  description: string
  parameters: readonly Parameter[]
  returns: readonly { name: string; type: string; text: string }[]
  /** Every code that the tool itself can answer with, and when. */
  errors: Partial<Record<ErrorCode, string>>
  preconditions: readonly string[]
  postconditions: readonly string[]
  idempotence: string
  example: {
    intention: string
    call: JsonObject
    success: Json
    error: ExampleError
  }
}

/** `given`: the arguments that bring it, in place of those of the call. */
type ExampleError = {
  [Code in ErrorCode]: { given?: JsonObject; code: Code; message: string; context: ContextOf<Code> }
}[ErrorCode]

/** What discover searches and shows. */
export function shortText({ objective, description }: Documentation): string {
  return `${objective} ${description}`
}

/** Of policy, humans, budget, cancelling and time: a call has them before or beside its tool. */
export const codesOfEveryCall: readonly ErrorCode[] = [
  'PERMISSION_DENIED',
  'APPROVAL_DENIED',
  'APPROVAL_EXPIRED',
  'BUDGET_EXCEEDED',
  'CANCELLED',
  'CALL_TIMEOUT',
]

/** Every heading of the template in specs/autoagent-tools.md §1. */
export function wholeText(id: string, documentation: Documentation): string {
  const { objective, description, parameters, returns, errors, idempotence, example } = documentation
  const { given, code, message, context } = example.error
  return [
    `${id}: ${objective}`,
    `Description: ${description}`,
    'Parameters:',
    ...parameters.map(parameterLine),
    'Returns:',
    ...returns.map(({ name, type, text }) => `  - ${name} (${type}): ${text}`),
    `Error codes (every call can also have ${codesOfEveryCall.join(', ')}):`,
    ...Object.entries(errors).map(([name, when]) => `  - ${name}: ${when}`),
    'Preconditions:',
    ...lines(documentation.preconditions),
    'Postconditions (success):',
    ...lines(documentation.postconditions),
    `Idempotence: ${idempotence}`,
    'Example:',
    `  Intention: ${example.intention}`,
    `  Call: ${id} ${toText(example.call)}`,
    `  Success: ${toText(example.success)}`,
    `  Typical error${given === undefined ? '' : ` with ${toText(given)}`}: ${new AppError(code, message, context)}`,
  ].join('\n')
}

function lines(list: readonly string[]): string[] {
  return list.length === 0 ? ['  - None.'] : list.map((one) => `  - ${one}`)
}

function parameterLine({ name, type, text, ifOmitted }: Parameter): string {
  return ifOmitted === undefined
    ? `  - ${name} (${type}): ${text}`
    : `  - ${name} (${type}, optional): ${text} If omitted: ${ifOmitted}`
}
