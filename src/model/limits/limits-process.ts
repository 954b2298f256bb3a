/** Limits of our own process: how it starts, how it stops, and how it waits meanwhile. */
export const processLimits = {
  /**
   * A command that waits for this long with no handle left that could wake it will never settle.
   */
  commandStalledMsMax: 60_000,
  /** How long one timer keeps the event loop alive for a command that is pending. */
  commandHoldMs: 25,
  /**
   * From the first signal to the end of the process, in order or not; interface.md allows ten
   * seconds.
   */
  stopMsMax: 9000,
  /**
   * A signal that comes this soon after another is the same one, forwarded by the parent process
   * (npm does so).
   */
  signalRepeatMs: 200,
  /**
   * What keeps a process alive whose command has settled, such as a handle left open, is not waited
   * for longer.
   */
  lingerMsMax: 3000,
  /** With fewer no gateway, no box and no server can be started together. */
  openFilesMin: 128,

  /**
   * A box that is killed while it starts is started so many times in all, after a pause that
   * doubles from this one on.
   */
  boxStartTriesMax: 5,
  boxStartAgainMs: 100,
  /**
   * Where no box could be started, the next attempt in the background follows after this time,
   * doubled up to the second.
   */
  boxAgainMsMin: 500,
  boxAgainMsMax: 30_000,
} as const
