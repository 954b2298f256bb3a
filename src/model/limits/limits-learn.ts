/** The bounds of what is learned from the record; part of `limits`. */
export const learnLimits = {
  /** Capabilities that run inside of each other. */
  capabilityDepthMax: 4,
  /** Default weight of an edge by its type, in hundredths. */
  edgeDependencyPercent: 100,
  edgeContainsPercent: 80,
  edgeProvidesPercent: 70,
  edgeAlternativePercent: 60,
  edgeSequencePercent: 50,
  /** Of one run, so many calls are looked at for flows, and so many values of each of them. */
  flowCallsMax: 500,
  flowLeavesMax: 2000,
  /** Texts shorter than this are not looked for inside longer ones. */
  flowPartCharactersMin: 4,
  flowPartCharactersMax: 10_000,
} as const
