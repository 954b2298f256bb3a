/** The bounds of judging calls by policy, and of looking for secrets; part of `limits`. */
export const policyLimits = {
  /** Steps of the pattern matcher for one decision: beyond these a rule that denies or asks applies, and one that allows does not. */
  policyStepsMax: 8_000_000,
  /** What each value below a pointer costs beside its characters, in steps. */
  policyStepsPerValue: 256,
  /** Rounds of percent-decoding: what is encoded more often is in doubt. */
  policyDecodeRoundsMax: 4,
  /** Characters of a reading that are quoted where a rule applies because of it. */
  policyReadingShownMax: 120,
} as const
