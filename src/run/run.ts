/**
 * Plans become calls and results: a plan enters, a run leaves, and every step of it is on the
 * record. Refuses a plan that cannot run before anything runs, and a run that another process owns.
 * What judges and reads plans is loaded with this file; the engine, with the catalogue and the
 * sandbox below it, only by loadEngine().
 */

export type { Maker, RunContext, Work, WorkQueue } from '#run/calls'
export type { Exploration, GraphEdge, GraphNode } from '#run/explore'
export { type Mocks, readMocks } from '#run/input'
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
export type { Makers } from '#run/program'
export type { Journal, Settlement } from '#run/record'
export type { AskedPlan, AskedRequest, CallableCapability, Capabilities, RunRequest } from '#run/start'
export type { ReplayCheck } from '#run/state'
export type { CanonicalProgram, ProgramSlice, Structure, StructureNode } from '#run/structure'
export type { ActiveRun, Attempt, Engine, EngineParts } from './engine-parts.ts'
export { type MayCall, namedBy, type Preview, previewOf, type RecordedPlan } from './preview.ts'

/** openEngine() and its parts. */
export const loadEngine = () => import('./engine.ts')
/** What is read of a program's text, with the parser that it takes. */
export const loadStructure = () => import('#run/structure')
