/**
 * Plans become calls and results: a plan enters, a run leaves, and every step of it is on the
 * record. Refuses a plan that cannot run before anything runs, and a run that someone else owns.
 * What judges and reads plans is loaded with this file; the engine, with the catalogue and the
 * sandbox below it, only by loadEngine().
 */

export type { Exploration, GraphEdge, GraphNode } from '#run/explore'
export {
  comparesArguments,
  dangerOf,
  decide,
  decideEarly,
  isAbout,
  isInForce,
  type LineEffect,
  type LineScope,
  lineEffect,
  lineFor,
  narrower,
  notCovered,
  type Proposal,
  type StandingLine,
  standingLines,
  standingRules,
  suggestEffect,
  type Verdict,
} from '#run/policy'
export { type CanonicalProgram, canonicalOf, type Structure, type StructureNode, structureOf } from '#run/structure'
export type { RunContext } from './call-context.ts'
export type { CallableCapability, Capabilities } from './capability-calls.ts'
export type { ReplayCheck } from './check-replay.ts'
export type { ActiveRun, Engine, EngineParts } from './engine-parts.ts'
export type { Journal } from './journal.ts'
export type { Makers } from './prepare.ts'
export { type MayCall, namedBy, type Preview, previewOf, type RecordedPlan } from './preview.ts'
export { type Mocks, readMocks } from './read-mocks.ts'
export type { Settlement } from './run-end.ts'
export type { AskedPlan, AskedRequest, RunRequest } from './run-started.ts'
export type { Maker, Work, WorkQueue } from './work-queue.ts'

/** openEngine() and its parts. */
export const loadEngine = () => import('./engine.ts')
