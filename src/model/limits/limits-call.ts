/**
 * The bounds of calls to servers: how many at once, and how often and for how long one is tried.
 */
export const callLimits = {
  callsInFlightMax: 64,
  /** Calls of one program that wait for a free place. */
  programCallsWaitingMax: 10_000,
  callTimeoutMsDefault: 60_000,
  upstreamConcurrencyDefault: 32,
  /** Of a server that keeps state between calls: two at once would share one page or one shell. */
  statefulConcurrencyDefault: 1,
  upstreamConcurrencyMax: 1000,

  /** A try whose outcome is unknown, of a call that may be repeated. */
  unknownTriesMax: 3,
  unknownTriesWithinMs: 5000,
  /** A try that was surely not sent, of any call. */
  notSentTriesMax: 3,
  /** The same where the server cannot be reached: it may be back in a moment. */
  unreachableTriesMax: 32,
  unreachableMsMax: 5000,
  /** Where a server says how long to wait: each time, and together. */
  retryAfterMsMax: 60_000,
  retryAfterMsTogether: 300_000,
  /** Between two tries; each pause is twice as long as the one before. */
  retryMsMin: 100,
  retryMsMax: 800,
  /** A key in doubt for longer counts as unsafe: a server may have forgotten it. */
  keyMsMax: 24 * 60 * 60 * 1000,
} as const
