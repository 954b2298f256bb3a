/**
 * From what is known to what is on the record: capabilities are learned, verified against the runs
 * they came from, and demoted, each by an event of the home's chain. One step does what there is to
 * do; a second one finds nothing.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Catalog } from '#catalog'
import {
  argumentsOfRun,
  type Capability,
  capabilitiesToDemote,
  capabilitiesToLearn,
  checkedAgain,
  fixedPlaces,
  type HomeCapabilities,
  idOf,
  isUsable,
  type KnownShape,
  pinnedTool,
  type RunCall,
  reachOf,
  shapeOfSource,
} from '#learn'
import {
  AppError,
  type EventBodies,
  isCapability,
  isReadOnly,
  type Json,
  type JsonObject,
  limits,
  type RunId,
} from '#model'
import type { Store } from '#record'
import type { Engine } from '#run'
import type { HomeSecrets } from './capability-files.ts'
import type { Judge, Judging } from './judge-capabilities.ts'

/** What was folded from the record. */
export type LearnedFacts = {
  shapes(): readonly KnownShape[]
  usesOf(
    name: string,
    version?: number,
  ): readonly { success: boolean; ms: number; at: string; run: string; call: string }[]
}

export type LearningParts = {
  store: Store
  engine: Engine
  catalog: Catalog
  capabilities: HomeCapabilities
  facts: () => LearnedFacts
  secrets?: () => HomeSecrets
  judging: Judging
}

type Verification = { ok: boolean; why: string | null; how: ('rehearsed' | 'executed')[]; runs: string[] }

/** `isServing`: what only reads is also executed for real. Answers with what it learned. */
export async function learnCapabilities(
  parts: LearningParts,
  { isServing, judge }: { isServing: boolean; judge: Judge },
  signal?: AbortSignal,
): Promise<string[]> {
  const { store, capabilities, facts } = parts
  const { shapes, usesOf } = facts()
  const learned = capabilitiesToLearn(shapes(), capabilities.versions(), {
    callsOf: (run) => callsOf(store, run),
    inputOf: (tool) => pinnedTool(tool, store).input,
  })
  for (const body of learned) await store.appendHome('capability.learned', body)
  const isOpen = (one: Capability) => isUnchecked(one) || (isServing && (isUnexecuted(one) || isOutdated(one)))
  for (const one of capabilities.all().filter(isOpen)) {
    if (signal?.aborted) break
    const isStale = one.status === 'stale'
    if (isStale && !(await areThere(parts, one))) continue
    const checked = await verifyCapability(parts, one, isServing).catch(asRefutation)
    if (checked === null) break
    if (checked.ok || checked.why === noRun) continue
    const why = checked.why ?? 'it was not verified'
    await change(store, one, isStale ? { status: 'stale', why: `${checkedAgain}${why}` } : { status: 'candidate', why })
  }
  for (const body of capabilitiesToDemote(capabilities.all(), usesOf))
    await store.appendHome('capability.changed', body)
  for (const body of await judge.look(signal)) await store.appendHome('capability.changed', body)
  return learned.map(({ capability, version }) => idOf({ name: capability, version }))
}

const isUnchecked = ({ status, reason }: Capability) => status === 'candidate' && reason === null

/** Another process has rehearsed it, which executes nothing for real. */
const isUnexecuted = ({ status, isKept, effect, verifiedBy }: Capability) =>
  status === 'verified' &&
  !isKept &&
  effect !== null &&
  isReadOnly(effect) &&
  verifiedBy?.how.includes('executed') === false

/** What it needs changed since it was verified, and no check was made since. */
const isOutdated = ({ status, reason, runs }: Capability) =>
  status === 'stale' && runs.length > 0 && reason?.startsWith(checkedAgain) !== true

/** All that it calls can be called: a change was accepted, what it contains is verified. */
async function areThere({ catalog, capabilities }: LearningParts, { tools }: Capability): Promise<boolean> {
  for (const id of Object.keys(tools)) {
    if (isCapability(id)) {
      if (!capabilities.all().some((one) => idOf(one) === id && isUsable(one))) return false
      continue
    }
    const tool = await catalog.tool(id)
    if (tool === undefined || catalog.refusalOf(tool) !== null) return false
  }
  return true
}

/** Of an imported one; it is tried again when there is one. */
const noRun = 'there is no run here that it could be rehearsed against'

const engineSays = { who: 'metier', from: 'engine' }

type Word = Pick<EventBodies['capability.changed'], 'status' | 'why'> & { who?: string; from?: string }

function change(store: Store, { name, version }: Capability, word: Word): Promise<void> {
  return store.appendHome('capability.changed', { capability: name, version, ...engineSays, ...word })
}

/** The box could not be had, or went away as its process ended: that says nothing of a program. */
function isBoxFailure(error: unknown): boolean {
  const codes = ['CANCELLED', 'SANDBOX_SETUP_FAILED', 'SANDBOX_TIER_DOWNGRADE']
  return error instanceof AppError && codes.includes(error.code)
}

/**
 * One that cannot be checked is not verified, and keeps none of the others from being so. Null
 * where the check was cut short: it is made again, here or by another process.
 */
function asRefutation(error: unknown): Verification | null {
  if (isBoxFailure(error)) return null
  if (!(error instanceof AppError)) throw error
  return { ok: false, why: `it cannot be checked: ${error.message}`, how: [], runs: [] }
}

function callsOf(store: Store, run: string): RunCall[] {
  if (store.isPurged(run as RunId)) return []
  return store.events(run, { type: 'call.issued' }).flatMap((event) => {
    if (event.type !== 'call.issued') return []
    const { tool, definition, effect } = event.body
    return [{ tool, definition, effect }]
  })
}

/** Held against every run that it was learned from; what it needs of its tools must still hold. */
export async function verifyCapability(
  parts: LearningParts,
  one: Capability,
  isServing: boolean,
): Promise<Verification> {
  const shape = parts
    .facts()
    .shapes()
    .find(({ digest, subject }) => digest === one.shape && subject === one.subject)
  const runs = (shape?.runs ?? []).filter(
    ({ run, ok }) => ok && (one.imported || one.runs.includes(run)) && !parts.store.isPurged(run as RunId),
  )
  const failed = (why: string) => ({ ok: false, why, how: [], runs: [] })
  if (runs.length === 0) return failed(noRun)
  const others = one.imported === true ? runs.find((run) => !hasFixedOf(one, run)) : undefined
  if (others !== undefined) return failed(`run ${others.run} has other values in it, which are no parameters`)
  for (const run of runs.slice(-limits.capabilityRunsMax)) {
    const args = argumentsOfRun(run, one)
    const { ok, error } = await parts.engine.rehearse(run.run as RunId, one.source, args)
    if (isBoxFailure(error)) throw error
    if (!ok) return failed(`rehearsed against run ${run.run}: ${error?.message ?? 'it differs'}`)
  }
  const reach = one.imported === true ? reachOf(runs.flatMap(({ run }) => callsOf(parts.store, run))) : one
  const { effect, servers } = reach
  const pins = await pinsOf(parts, reach, runs)
  if (typeof pins === 'string') return failed(pins)
  const how: Verification['how'] = ['rehearsed']
  if (isServing && effect !== null && isReadOnly(effect)) {
    const why = await executeOnce(parts, one, argumentsOfRun(runs.at(-1)!, one))
    if (why !== null) return failed(why)
    how.push('executed')
  }
  const verified = { how, runs: runs.map(({ run }) => run) }
  const { name: capability, version, digest } = one
  const found = one.imported === true ? { effect, servers } : {}
  const body = { capability, version, digest, ...verified, tools: pins, ...found }
  await parts.store.appendHome('capability.verified', body)
  return { ok: true, why: null, ...verified }
}

/** What is written into it is what those runs have there: no branch waits for another value. */
function hasFixedOf(one: Capability, { literals }: { literals: readonly Json[] }): boolean {
  const own = shapeOfSource(one.source, one)
  if (own === null || own.literals.length !== literals.length) return false
  return fixedPlaces(literals.length, one).every((at) => isDeepStrictEqual(own.literals[at], literals[at]))
}

/** The tools as they are now; a text where one is gone, or would not take what it was given. */
async function pinsOf(
  { catalog, store, capabilities }: LearningParts,
  { tools }: Pick<Capability, 'tools'>,
  runs: readonly { run: string }[],
): Promise<Record<string, string> | string> {
  const pins: Record<string, string> = {}
  for (const [id, known] of Object.entries(tools)) {
    if (isCapability(id)) {
      const contained = capabilities.all().find((one) => idOf(one) === id)
      if (contained === undefined || !isUsable(contained)) return `${id} is ${contained?.status ?? 'not there'}`
      pins[id] = known
      continue
    }
    const tool = await catalog.tool(id)
    if (tool === undefined) return `the tool ${id} is not there`
    const refusal = catalog.refusalOf(tool)
    if (refusal !== null) return refusal.message
    pins[id] = tool.digest
    if (tool.digest === known) continue
    const problem = argumentsGiven(store, id, runs)
      .map((args) => catalog.problemOf(tool, args))
      .find((found) => found !== null)
    if (problem) return `the tool ${id} changed: ${problem.message}`
  }
  return pins
}

function argumentsGiven(store: Store, tool: string, runs: readonly { run: string }[]): Json[] {
  return runs.flatMap(({ run }) =>
    store
      .events(run, { type: 'call.issued' })
      .flatMap((event) =>
        event.type === 'call.issued' && event.body.tool === tool ? [store.value(event.body.args) as Json] : [],
      ),
  )
}

/** Null where it went well. The run is on the record like any, and teaches nothing. */
async function executeOnce({ engine }: LearningParts, one: Capability, args: JsonObject): Promise<string | null> {
  const plan = { kind: 'capability', id: idOf(one) } as const
  const actor = { kind: 'learn', name: 'verification' } as const
  const budget = { calls: limits.capabilityVerifyCallsMax }
  const { run, settled } = await engine.start({ plan, intent: null, args, actor, budget, permissions: 'minimal' })
  const settlement = await settled
  if (settlement === 'interrupted') {
    throw new AppError('CANCELLED', `Cannot verify ${idOf(one)}: run ${run} of it was interrupted`, { run })
  }
  return settlement === 'done' ? null : `executed once more as run ${run}: it ended ${settlement}`
}

/** A human's word about it: of one version, or of all. */
export async function decideCapability(
  { store, capabilities }: Pick<LearningParts, 'store' | 'capabilities'>,
  found: { name: string; version: number | null },
  status: 'disabled' | 'enabled' | 'forgotten',
  { actor }: { actor: { name: string; kind: string } },
): Promise<void> {
  const { name: capability, version } = found
  const shape = capabilities.all().findLast((one) => one.name === capability)?.shape
  const by = { who: actor.name, from: actor.kind }
  const why = `${status} by ${actor.name}`
  const which = version === null ? {} : { version }
  const forgets = status === 'forgotten' && shape !== undefined ? { shape } : {}
  await store.appendHome('capability.changed', { capability, ...which, status, why, ...by, ...forgets })
}
