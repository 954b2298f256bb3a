/**
 * Plans become calls and results: a plan enters, a run leaves, and every step of it is on the record.
 * Refuses a plan that cannot run before anything runs, and a run that someone else owns. What judges and reads plans is loaded
 * with this file; the engine, with the catalogue and the sandbox below it, only by loadEngine().
 */
export { dangerOf } from './danger.ts'
export type { Score } from './desk.ts'
export type { ActiveRun, Engine, EngineParts } from './engine.ts'
export type { Exploration, GraphEdge, GraphNode } from './explore-tell.ts'
export type { Journal } from './journal.ts'
export { type LineEffect, type LineScope, lineEffect } from './line-effect.ts'
export { comparesArguments, notCovered } from './not-covered.ts'
export { decide, decideEarly, isAbout, lineFor, narrower, type Verdict } from './policy.ts'
export { type MayCall, namedBy, type Preview, previewOf, type RecordedPlan } from './preview.ts'
export type { Maker, Queue, Work } from './queue.ts'
export { type Mocks, readMocks } from './read-mocks.ts'
export type { Rehearsal } from './rehearse.ts'
export { isInForce, type StandingLine, standingLines, standingRules } from './standing.ts'
export type { RunRequest } from './started.ts'
export type { Settlement } from './stop.ts'
export type { Structure, StructureNode } from './structure/structure.ts'
export { type Proposal, suggestEffect } from './suggest-effects.ts'

/** openEngine() and its parts. */
export const loadEngine = () => import('./engine.ts')
