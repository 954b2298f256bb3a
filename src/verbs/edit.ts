/** Arguments that a human puts in place of a program's: judged by the tool's schema and by policy before they are recorded. */
import { AppError, type Effect, type Json, limits, toText } from '#model'
import { decide, standingRules } from '#run'
import type { CallView, RunView } from './answer.ts'
import type { Parts } from './execute.ts'

/** The engine judges them again as it sends the call; here whoever edits is told in time to correct them. */
export async function checkEdit(
  { store, catalog, policy }: Parts,
  { started }: RunView,
  { tool, effect }: CallView,
  args: Json,
): Promise<void> {
  if (Buffer.byteLength(toText(args)) > limits.callArgumentsBytesMax) {
    throw refused(`they have more than ${limits.callArgumentsBytesMax} bytes`)
  }
  const definition = await catalog.tool(tool)
  const problem = definition === undefined ? null : catalog.problemOf(definition, args)
  if (problem !== null) throw refused(problem.message, args)
  const rules = [...policy.rules, ...standingRules(store)]
  const verdict = decide({ tool, effect: effect as Effect, danger: null, args }, started.permissions, rules)
  if (verdict.then !== 'deny') return
  const message = `Cannot call "${tool}" with these arguments: denied by ${verdict.because}`
  throw new AppError('PERMISSION_DENIED', message, { param: 'args', tool, because: verdict.because })
}

function refused(details: string, value?: Json): AppError {
  const message = `Cannot take the edited arguments: ${details}`
  return new AppError('INVALID_INPUT_PARAM', message, {
    param: 'args',
    details,
    ...(value === undefined ? {} : { value }),
  })
}
