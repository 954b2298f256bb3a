/** The limits of scripts in their boxes, each with its unit. */
export const scriptLimits = {
  scriptBytesMax: 1024 * 1024,
  scriptTimeoutSecondsDefault: 60,
  scriptTimeoutSecondsMax: 300,
  /** One call of the script tool: the longest script, and the start and the end of its box. */
  scriptCallMsMax: 360_000,
  scriptInputsMax: 64,
  /** Of an input or an output in its box. */
  scriptPathBytesMax: 1024,
  scriptInputsBytesMax: 256 * 1024 * 1024,
  /** Files that a script may name to be handed out, below `/outputs/`. */
  scriptOutputFilesMax: 64,
  /** Of `/outputs`, and of all that is handed out together; each has the bound of an artifact. */
  scriptOutputFilesBytesMax: 64 * 1024 * 1024,
  /** From the end of a script until its files are handed out. */
  scriptOutputFilesMsMax: 30_000,
  /** Kept of each output. */
  scriptOutputBytesMax: 1024 * 1024,
  /** Read of each output and thrown away, before the script is killed for it. */
  scriptFloodBytesMax: 16 * 1024 * 1024,
  /** Of each output, what an error carries. */
  scriptErrorOutputBytesMax: 4096,
  scriptMemoryBytesMax: 256 * 1024 * 1024,
  scriptTasksMax: 64,
  scriptCpusMax: 1,
  /** Of `/tmp`, and of a single file. */
  scriptDiskBytesMax: 64 * 1024 * 1024,
  scriptSharedMemoryBytesMax: 1024 * 1024,
  scriptFilesMax: 256,
  /** What gVisor needs for itself, beside the script's share. */
  scriptSentryBytesMax: 64 * 1024 * 1024,
  scriptSentryTasksMax: 1000,
  scriptBoxStartMsMax: 15_000,
  /** From the kill of a box until nothing of it is alive. */
  scriptBoxEndMsMax: 5000,
  scriptBoxIdleMsMax: 10 * 60 * 1000,
  scriptPoolSize: 1,
  /** Running at a time; further ones wait. */
  scriptBoxesMax: 16,
  scriptBoxesWaitingMax: 1000,
  /**
   * A box that was taken from the pool is replaced after this time, so as not to slow down its
   * script.
   */
  scriptRefillMs: 50,
  /** How often memory is measured where the system does not limit it for us. */
  scriptWatchMs: 50,
  scriptProbeMsMax: 10_000,
  /** For compiling Go's standard library once. */
  scriptPrimeMsMax: 20 * 60 * 1000,
  scriptPrimeMemoryBytesMax: 4 * 1024 * 1024 * 1024,
  scriptPrimeDiskBytesMax: 2 * 1024 * 1024 * 1024,
  scriptPrimeTasksMax: 512,
  scriptPrimeCpusMax: 64,
  outboundHeadBytesMax: 16 * 1024,
  outboundHeadMsMax: 10_000,
  outboundConnectMsMax: 10_000,
  outboundConnectionsMax: 64,
} as const
