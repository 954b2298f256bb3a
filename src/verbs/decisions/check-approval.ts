/**
 * A human's yes, judged before it is recorded: by what the configuration denies, and with edited
 * arguments by the tool's schema too.
 */
import { type AppError, type Effect, type Json, limits, toAppError, toText } from '#model'
import { decide, narrower, standingRules } from '#run'
import type { Parts } from '#verbs/execute'
import { DecisionError, refuseDeep } from '#verbs/input'
import type { CallView, RunView } from '#verbs/views'

/**
 * The engine judges it again as it sends the call; here the person who answers learns it in time.
 */
export async function checkApproval(
  parts: Parts,
  view: RunView,
  call: CallView,
  edited: Json | undefined,
): Promise<void> {
  if (edited !== undefined) await checkEdited(parts, call, edited)
  refuseDenied(parts, view, call, edited)
}

/**
 * No human's word sends what the configuration denies: neither a yes to a question nor "again" to a
 * call in doubt.
 */
export function refuseDenied({ store, policy }: Parts, view: RunView, call: CallView, edited?: Json): void {
  const { tool, effect } = call
  const args = edited ?? (store.value(call.edited ?? call.args) as Json)
  const permissions = narrower(view.started.permissions, policy.permissions)
  const rules = [...policy.rules, ...standingRules(store, permissions)]
  const verdict = decide({ tool, effect: effect as Effect, danger: null, args }, permissions, rules)
  if (verdict.action !== 'deny') return
  const message = `Cannot call "${tool}" with these arguments: denied by ${verdict.because}`
  throw new DecisionError('arguments', 'PERMISSION_DENIED', message, { param: 'args', tool, because: verdict.because })
}

async function checkEdited({ catalog }: Parts, { tool }: CallView, args: Json): Promise<void> {
  try {
    refuseDeep('args', args)
  } catch (error) {
    const { code, message, context } = toAppError(error)
    throw new DecisionError('arguments', code, message, context, error)
  }
  if (Buffer.byteLength(toText(args)) > limits.callArgumentsBytesMax) {
    throw refused(`they have more than ${limits.callArgumentsBytesMax} bytes`)
  }
  const definition = await catalog.tool(tool)
  const problem = definition === undefined ? null : catalog.problemOf(definition, args)
  if (problem !== null) throw refused(problem.message, args)
}

function refused(details: string, value?: Json): AppError {
  const message = `Cannot take the edited arguments: ${details}`
  return new DecisionError('arguments', 'INVALID_INPUT_PARAM', message, {
    param: 'args',
    details,
    ...(value === undefined ? {} : { value }),
  })
}
