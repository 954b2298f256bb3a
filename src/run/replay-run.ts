/**
 * Plays a run's record into a program, and calls nothing. A replay gives its own program the record
 * and compares bytes. A rehearsal gives it another source for the same and compares values: a
 * program with parameters may write the keys of an object in another order than the one that it was
 * made from.
 */
import { isDeepStrictEqual } from 'node:util'
import { AppError, type CapabilitySource, type Json, type RunId } from '#model'
import type { Store } from '#record'
import { prepare, preparedFor } from '#run/program'
import type { Journal } from '#run/record'
import { planOfSource } from '#run/start'
import { checkReplay, type ReplayCheck } from '#run/state'
import { type EngineContext, journalOf, programsOf } from './engine-context.ts'
import { deliveriesOf, type ReadDeliveries } from './programs.ts'

export async function replayRun(context: EngineContext, run: RunId): Promise<ReplayCheck> {
  const journal = journalOf(context, run)
  const prepared = await preparedFor(journal, context.boxes, context.makers)
  return checkReplay(journal, programsOf(context, journal, prepared, deliveriesFrom(journal)))
}

export async function rehearseRun(
  context: EngineContext,
  run: RunId,
  source: CapabilitySource,
  args: Json,
): Promise<ReplayCheck> {
  const journal = journalOf(context, run)
  const prepared = await prepare(planOfSource(source, args), context.boxes, context.makers)
  const started = { ...journal.started, args, plan: { ...prepared, source: prepared.source } }
  const programs = programsOf(context, { ...journal, started }, prepared, deliveriesFrom(journal))
  return sameResult(await checkReplay(journal, programs, isSameValue), context.store, run)
}

function deliveriesFrom(journal: Journal): ReadDeliveries {
  return async (path) => deliveriesOf(journal, path)
}

function isSameValue(recorded: string, issued: string): boolean {
  return recorded === issued || isDeepStrictEqual(JSON.parse(recorded), JSON.parse(issued))
}

/** A rehearsal that issued the same calls must also end as the run did. */
function sameResult(check: ReplayCheck, store: Pick<Store, 'events' | 'text'>, run: RunId): ReplayCheck {
  if (!check.ok) return check
  const [finished] = store.events(run, { type: 'run.finished' })
  const result = finished?.type === 'run.finished' ? finished.body.result : undefined
  const recorded = result === undefined ? null : store.text(result)
  const { end } = check
  if (recorded !== null && end?.ok === true && isSameValue(recorded, end.value)) return check
  const message = `Cannot rehearse against run ${run}: it ends with another result`
  return { ...check, ok: false, error: new AppError('REPLAY_MISMATCH', message, { run }) }
}
