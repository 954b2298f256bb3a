/** The bounds of what is shown, searched and observed of tools; part of `limits`. */
export const catalogLimits = {
  /** Above this an input is shown with less detail. */
  signatureCharactersMax: 2000,
  /** Of one type in the declarations for an editor. */
  declaredCharactersMax: 50_000,
  declaredDepthMax: 24,
  signatureDepthMax: 6,
  signatureUnionMax: 12,
  signatureStepsMax: 20_000,
  /** Up to this size, and without patterns and the like, a schema is checked without a clock. */
  toolSchemaLightBytesMax: 8 * 1024,
  schemaCheckMsMax: 100,
  stemsKeptMax: 100_000,
  /** Forms of words in the index, those of tools that are gone included. */
  searchFormsMax: 1_000_000,
  /** An index of fewer tools is built sooner than it is read. */
  indexKeptToolsMin: 2000,
  /** So many pins are read one by one; from then on all of them, which is faster. */
  pinSingleReadsMax: 256,
  /** The digests of fewer tools are computed sooner than they are read. */
  digestsKeptToolsMin: 1000,
  /**
   * The best so many are looked at more closely, whatever limit is asked for: so a score does not
   * depend on it.
   */
  searchWindowTools: 100,
  /** Of the one sentence that is said of a tool below the cut. */
  discoverBriefCharactersMax: 32,
  /**
   * Of the descriptions after that of the first, unless whole schemas are asked for; one that is
   * asked for by its id is the first.
   */
  discoverOtherCharactersMax: 80,
  /** So long the index is built before others have their turn. */
  searchSliceMs: 5,
  /** Of each side of a change, at a terminal. */
  diffCharactersMax: 4000,
  /**
   * An observed shape: how deep it looks, how many keys make a table of an object, and how large it
   * may become.
   */
  shapeDepthMax: 6,
  shapePropertiesMax: 64,
  shapeItemsMax: 100,
  shapeBytesMax: 8 * 1024,
  shapesPerServerMax: 10_000,
  shapesWriteMs: 1000,
} as const
