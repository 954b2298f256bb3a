/** The bounds of what is learned from the record; part of `limits`. */
export const learnLimits = {
  /** Capabilities that run inside of each other. */
  capabilityDepthMax: 4,
  /** Runs that a capability is learned from and rehearsed against. */
  capabilityRunsMax: 20,
  /** So often another program for the same intent went well before it is a new version. */
  capabilityBetterRunsMin: 3,
  /** Demoted after so many failures, where its rate of success is likely below this. */
  capabilityFailuresMin: 3,
  capabilityRatePercentMin: 50,
  /** Demoted as well where regressions less repairs are likely above this share of past runs. */
  capabilityNetLossPercentMax: 33,
  /** Past runs that are looked at together, and that a judgement is made of. */
  capabilityJudgedRunsMax: 20,
  attemptCallsMax: 200,
  /** Of one that is executed to verify it. */
  capabilityVerifyCallsMax: 20,
  /** Of one in a file, with its fixtures. */
  capabilityFileCharactersMax: 1024 * 1024,
  /** Of a default value. */
  capabilityDefaultCharactersMax: 200,
  /** Default weight of an edge by its type, in hundredths. */
  edgeDependencyPercent: 100,
  edgeContainsPercent: 80,
  edgeProvidesPercent: 70,
  edgeAlternativePercent: 60,
  edgeSequencePercent: 50,
  /** Of one run, so many calls are looked at for flows, and so many values of each of them. */
  flowCallsMax: 500,
  flowLeavesMax: 2000,
  /** Ways to read which place of a program made which call, at any time. */
  callReadingsMax: 12,
  /** Texts shorter than this are not looked for inside longer ones. */
  flowPartCharactersMin: 4,
  flowPartCharactersMax: 10_000,
  /** Past runs that are kept in memory, and literals and runs of one shape. */
  learnRunsMax: 100_000,
  learnWordingsMax: 5000,
  shapeRunsMax: 20,
  shapeLiteralsMax: 200,
  shapeRunCharactersMax: 4000,
  /** Other tools that a tool is remembered with, and values of its examples. */
  learnWithMax: 50,
  learnExamplesMax: 2,
  learnExampleCharactersMax: 2000,
  /** Tools of the graph among which is looked for what feeds what; sets of tools of one intent. */
  providesToolsMax: 60,
  alternativeSetsMax: 8,
  /** Field pairs of one edge. */
  edgeFieldsMax: 20,
  /** A result whose text is longer is not looked into for flows. */
  learnValueBytesMax: 256 * 1024,
  /** Events that the fold reads at once, and characters of runs that are open. */
  learnReadEventsMax: 200,
  learnReadCharactersMax: 16 * 1024 * 1024,
  /** About how long one step of the fold may take. */
  learnStepMs: 8,
  learnStepAloneMs: 250,
  /**
   * A process whose event loop has more to do than this folds for such a share of its CPU time.
   * With less, all that its calls teach takes below 1 % of a processor. Where calls wait for a disk
   * or a processor, the loop seems to have little to do.
   */
  learnBusyPercent: 10,
  learnBusySharePercent: 1,
  learnIdleSteps: 25,
  /** How often the record is looked at for closed runs, and how long a process waits at its end. */
  learnLookMs: 500,
  learnCloseMsMax: 500,
  /** How often a purge waits for another process that folds, two seconds each. */
  learnPurgeTriesMax: 5,
  /** Rows that a process keeps in memory between two steps. */
  learnRowsCachedMax: 4000,
  /** Programs whose shape is remembered between runs. */
  learnShapesMax: 500,
  /** Of an intent only so much is compared, and so many near ones speak. */
  learnIntentCharactersMax: 1000,
  learnIntentStemsMax: 40,
  learnNearIntentsMax: 40,
  /** Of the intent that a capability was made from, shown in one line. */
  capabilityIntentCharactersMax: 160,
  /** Capabilities that discover shows beside tools. */
  capabilitiesOfferedMax: 3,
  /** Attention is judged at each so many runs, on so many held-out ones at most and at least. */
  attentionJudgedEvery: 200,
  attentionHeldOutMax: 200,
  attentionCasesMin: 50,
  /** Runs that it is made of, distinct intents, and sets of tools. */
  attentionRunsMax: 10_000,
  attentionCasesMax: 1500,
  attentionSetsMax: 500,
  /**
   * The planner is fitted at each so many runs while they are few, and first used with so many
   * distinct intents.
   */
  planFittedEvery: 50,
  planCasesMin: 40,
  /** What it is made of: runs, distinct intents, stems of an intent, tools, weights. */
  planRunsMax: 10_000,
  planCasesMax: 3000,
  planStemsMax: 60,
  planToolsMax: 20_000,
  planWeightsMax: 6_000_000,
  /** Past intents that are foreseen to calibrate confidence. */
  learnOutcomesMax: 150,
} as const
