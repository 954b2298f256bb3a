/** `run show`: a run with its plan, its calls and, until it is finished, what its plan may call. */
import type { JsonObject, RunId } from '#model'
import type { Store } from '#record'
import { planOf } from './plan-of.ts'
import { viewRun } from './run-view.ts'

/** The plan and every call with arguments, value, times and approvals. */
export async function showRun(store: Store, run: RunId): Promise<JsonObject> {
  const view = viewRun(store, run)
  const { row, started, finished: end, logs, traced, startedAt } = view
  const calls = view.calls.map(({ args, edited, resolved, ...call }) => ({
    ...call,
    args: store.value(args),
    ...(edited === undefined ? {} : { edited: store.value(edited) }),
    ...(resolved === undefined ? {} : { outcome: resolved.outcome, by: resolved.by }),
    ...(resolved?.value === undefined ? {} : { value: store.value(resolved.value) }),
    ...(resolved?.error === undefined ? {} : { error: resolved.error }),
  }))
  const { intent, actor, permissions, budget, isolation, engine } = started
  const head = {
    run,
    status: row.status,
    mode: started.mode,
    intent,
    startedAt,
    callCount: calls.length,
    actor,
    permissions,
    budget,
    engine,
    isolation,
  }
  const plan = store.value(started.plan)
  const outcome =
    end === undefined
      ? {}
      : { ms: end.ms, ...(end.result !== undefined ? { result: store.value(end.result) } : { error: end.error }) }
  const named = end === undefined ? await namedIn(plan) : {}
  const args = store.value(started.args)
  return { ...head, plan, ...named, args, calls, traced, logs, ...outcome } as JsonObject
}

/** A program is read for it, which takes longer than all else of the answer. */
async function namedIn(plan: unknown) {
  const { namedBy } = await import('#run')
  return namedBy(planOf(plan))
}
