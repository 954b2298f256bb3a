/** Limits of our own process: how it starts, how it stops, and how it waits meanwhile. */
export const processLimits = {
  /** A command that waits for this long with no handle left that could wake it will never settle. */
  commandStalledMsMax: 60_000,
  /** How long one timer keeps the event loop alive for a command that is pending. */
  commandHoldMs: 25,
  /** From the first signal to the end of the process, in order or not; interface.md allows ten seconds. */
  stopMsMax: 9000,
  /** A signal that comes this soon after another is the same one, forwarded by whoever started us (npm does so). */
  signalRepeatMs: 200,
} as const
