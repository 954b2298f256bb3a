/**
 * The bounds of judging calls by policy, of forms in hosts, and of looking for secrets; part of
 * `limits`.
 */
export const policyLimits = {
  /**
   * Steps of the pattern matcher for one decision: beyond these a rule that denies or asks applies,
   * and one that allows does not.
   */
  policyStepsMax: 8_000_000,
  /** What each value below a pointer costs beside its characters, in steps. */
  policyStepsPerValue: 256,
  /** Rounds of percent-decoding: what is encoded more often is in doubt. */
  policyDecodeRoundsMax: 4,
  /** Of a host that stands alone, as an address of the network and its port. */
  policyHostCharactersMax: 64,
  /** Characters of a reading that are quoted where a rule applies because of it. */
  policyReadingShownMax: 120,
  /** Of a secret of the least length in base64; a shorter run of its characters is not decoded. */
  encodedCharactersMin: 11,
  /**
   * A line of wrapped base64 has at least so many characters; GitHub's have 60, those of PEM 64,
   * those of MIME 76.
   */
  encodedLineCharactersMin: 16,
  /** A run of at least so many characters, all of them hexadecimal digits, is no base64. */
  hexCharactersCertain: 32,
  /**
   * So many encodings one in the other are undone, and so many times the length of a text is
   * decoded in all.
   */
  encodedDepthMax: 3,
  encodedGrowthMax: 16,
  /** How long after its question has expired the answer to a form is still understood. */
  formLateMsMax: 60 * 60 * 1000,
} as const
