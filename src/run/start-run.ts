/** Starts a run: from a request, or as a fork of another run from one of its calls on. */
import { type Actor, type Json, newId, type RunId, randomBytesPooled } from '#model'
import { prepare, preparedFor } from '#run/program'
import { newJournal, readJournal } from '#run/record'
import {
  type AskedRequest,
  checkPlan,
  copyEvents,
  eventsBefore,
  forkedBody,
  redactRequest,
  startedBody,
  withPlan,
} from '#run/start'
import type { Conduct } from './conduct-run.ts'
import { type EngineContext, journalOf } from './engine-context.ts'
import type { ActiveRun } from './engine-parts.ts'

export async function startRun(context: EngineContext, asked: AskedRequest, conduct: Conduct): Promise<ActiveRun> {
  const { boxes, capabilities, catalog, config, makers, now, runs, store } = context
  const request = withPlan(asked, capabilities)
  const seed = randomBytesPooled(32).toString('hex')
  const { clean, seals } = redactRequest(request, seed, config)
  if (clean.plan.kind === 'dag')
    await checkPlan(clean.plan.tasks, catalog, (id) => capabilities.resolve(id, clean.actor))
  const prepared = await prepare(clean.plan, boxes, makers)
  const started = startedBody(clean, prepared, seed, config, catalog)
  return runs.enter(async () => {
    const chain = store.startRun(newId<RunId>(now()), started)
    for (const seal of seals) chain.seal(...seal)
    if (started.key !== undefined) await chain.durable()
    return conduct({ chain, journal: newJournal(started, chain.lastAt()), prepared, live: request })
  })
}

/** The run and the call that a fork leaves from, and what that call gets instead. */
type ForkPoint = { run: RunId; at: number; args: Json | undefined; actor: Actor }

export async function forkRun(context: EngineContext, point: ForkPoint, conduct: Conduct): Promise<ActiveRun> {
  const { boxes, catalog, config, makers, now, runs, store } = context
  const { run, at, args, actor } = point
  const events = store.events(run)
  const origin = readJournal(events, store.text)
  const prepared = await preparedFor(origin, boxes, makers)
  const forked = newId<RunId>(now())
  const left = { run, at: String(at), ...(args === undefined ? {} : { args }) }
  const { started, seals } = forkedBody(forked, origin, left, { prepared, config, sealed: store.sealed(run) })
  return runs.enter(async () => {
    const chain = store.startRun(forked, { ...started, actor, servers: catalog.digests() })
    for (const seal of seals) chain.seal(...seal)
    copyEvents(chain, eventsBefore(events, at), store.text)
    await chain.durable()
    return conduct({ chain, journal: journalOf(context, forked), prepared })
  })
}
