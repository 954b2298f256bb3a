/** Limits of the task graph. */
export const graphLimits = {
  /** Of names of missions, tasks, agents, tags and the like, in code points. */
  graphNameCharsMax: 100,
  graphDescriptionCharsMax: 2000,
  /** Of results, notes, reports and messages, in code points. */
  graphTextCharsMax: 100_000,
  /** Of the content of an artifact, in bytes. */
  artifactPageBytesDefault: 256 * 1024,
  artifactPageBytesMax: 4 * 1024 * 1024,
  graphPriorityMax: 1_000_000,
  graphPageDefault: 50,
  graphPageMax: 500,
  /** Of one mission, that are shown as a tree. */
  graphMissionTasksMax: 5000,
  /** Ready tasks that a claim looks at before it asks for the next ones, and how often it asks. */
  graphClaimCandidates: 16,
  graphClaimRoundsMax: 64,
  /** How long a write waits for other writers of the same database. */
  graphWriteWaitMsMax: 10_000,
  /** How long one statement or one transaction may take before the database counts as lost. */
  graphTransactionMsMax: 15_000,
  graphConnectMsMax: 5000,
  /**
   * Events of the record that the projection of runs takes at once, and what one statement writes.
   */
  projectionEventsMax: 500,
  projectionPartMax: 500,
  /** Runs under way that it keeps in memory, as far as they were folded. */
  projectionRunsMax: 256,
  /**
   * How often it looks, how long it waits after a failure at the most, and for a last look at the
   * end.
   */
  projectionLookMs: 250,
  projectionPauseMsMax: 30_000,
  projectionCloseMsMax: 1000,
  /** Events behind the record, counted up to this. */
  projectionLagMax: 10_000,
  /** How long doctor waits for it. */
  doctorGraphMsMax: 15_000,
  /** How long a transaction is tried again after deadlocks and lost connections. */
  graphRetryMsMax: 5000,
  /** All of it together: a server that is silent for so long counts as lost. */
  graphAnswerMsMax: 30_000,
  graphCloseMsMax: 1000,
}
