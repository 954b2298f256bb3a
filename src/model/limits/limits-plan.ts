/** The bounds of reading, exploring and learning from plans; part of `limits`. */
import { learnLimits } from './limits-learn.ts'

export const planLimits = {
  ...learnLimits,
  /** Of a program's structure: beyond these it is said not to be whole. */
  structureNodesMax: 2000,
  structureSourceCharactersMax: 64 * 1024,
  structureStepsMax: 50_000,
  structureDefinitionsMax: 32,
  /**
   * Values that one expression may be, keys of a path, what one condition asks, what one call is
   * given, and how often it is looked for.
   */
  structureOriginsMax: 16,
  structurePathMax: 12,
  structureTestsMax: 32,
  structureInputsMax: 64,
  structureLooksMax: 1000,
  structureAnnotationsMax: 100,
  structureTextMax: 120,
  /** The part of a program that makes one value, as code of a task. */
  sliceCharactersMax: 16 * 1024,
  /**
   * Of a run's results, what is remembered to tell where arguments come from, and how far it is
   * looked through.
   */
  provenanceCharactersMax: 4 * 1024 * 1024,
  provenanceCallsMax: 100,
  provenanceStepsMax: 20_000,
  provenanceLeavesMax: 32,
  /** A shorter value may be the same by chance. */
  provenanceCharactersMin: 6,
  /**
   * Of a dry run: runs that are looked through for a recorded result, and how far a value is made
   * up from a schema.
   */
  recordedRunsMax: 100,
  sampleStepsMax: 1000,
  sampleItemsMax: 100,
  /** Of a replayed call, so many of the arguments that differ are told. */
  differencesShownMax: 10,
  exploreBranchesDefault: 16,
  exploreBranchesMax: 256,
  /**
   * Tries for each path that is looked for; calls on one path; calls from one place whose results
   * are varied.
   */
  exploreTriesPerBranch: 12,
  explorePathCallsMax: 200,
  exploreCallsPerPlaceMax: 3,
  exploreArgumentsMax: 1000,
  /**
   * Characters of a path's result; arms that are named as taken by none; what a program may compute
   * between two calls.
   */
  exploreResultMax: 10_000,
  exploreUncoveredMax: 100,
  exploreTicksPerTurnMax: 1000,
  /**
   * Levels of what a program returns, of the arguments of its calls, and of a plan: deeper values
   * leave those who walk them no stack.
   */
  programDepthMax: 512,
  /** Pure operations that one turn tells. */
  tracedOperationsMax: 64,
} as const
