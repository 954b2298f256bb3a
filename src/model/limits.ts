/** Every bound of the product in one place, each with its unit. */
export const limits = {
  /** A member of an event's body whose JSON text is longer stands as a blob. */
  eventValueBytesMax: 64 * 1024,
  eventLineBytesMax: 1024 * 1024,
  blobBytesMax: 64 * 1024 * 1024,
  commitRequestsMax: 1024,
  /** An event that nobody waits for is committed at the latest after this time. */
  commitDelayMsMax: 20,
  checkpointEventsMax: 1000,
  checkpointMsMax: 10 * 60 * 1000,
  storeBusyMsMax: 5000,
  foreignPollMs: 50,
  retentionDaysDefault: 180,
  artifactBytesMax: 20 * 1024 * 1024,
  artifactNameBytesMax: 255,
  secretBytesMin: 8,
  secretBytesMax: 16 * 1024,
  secretsPerRunMax: 1000,

  /** What a program receives of one result. */
  resultBytesMax: 8 * 1024 * 1024,
  /** Above this an answer carries a preview and a handle instead of the result. */
  inlineResultBytesMax: 8 * 1024,
  previewCharactersMax: 240,
  resultPageDefault: 8 * 1024,
  resultPageMax: 256 * 1024,
  answerCallsMax: 50,

  programBytesMax: 256 * 1024,
  programArgumentsBytesMax: 1024 * 1024,
  programMemoryBytesMax: 64 * 1024 * 1024,
  programStackBytesMax: 256 * 1024,
  /** Interrupt checks of the engine between two deliveries; stands in for CPU time, so that replay sees the same end. */
  programTicksPerTurnMax: 200_000,
  programLogLinesMax: 1000,
  programLogLineBytesMax: 8 * 1024,
  callArgumentsBytesMax: 1024 * 1024,
  callsInFlightMax: 64,
  callTimeoutMsDefault: 60_000,
  timerMsMax: 24 * 60 * 60 * 1000,
  boxStartMsMax: 10_000,
  boxPoolSize: 1,

  planTasksMax: 1000,
  taskIdBytesMax: 128,
  intentBytesMax: 16 * 1024,
  runKeyBytesMax: 256,

  budgetCallsDefault: 1000,
  budgetWallMsDefault: 600_000,
  budgetBytesDefault: 100_000_000,

  /** A try whose outcome is unknown, of a call that may be repeated. */
  unknownTriesMax: 3,
  unknownTriesWithinMs: 5000,
  notSentTriesMax: 3,

  approvalMsDefault: 60 * 60 * 1000,

  upstreamStartMsMax: 30_000,
  upstreamStopMsMax: 2000,
  upstreamIdleMsDefault: 300_000,
  upstreamConcurrencyDefault: 4,
  upstreamLineBytesMax: 64 * 1024 * 1024,
  upstreamStderrBytesMax: 16 * 1024,
  catalogToolsMax: 100_000,
  toolSchemaBytesMax: 256 * 1024,
  toolSchemaDepthMax: 64,

  discoverLimitDefault: 10,
  discoverLimitMax: 50,

  httpBodyBytesMax: 4 * 1024 * 1024,
  httpSessionsMax: 1000,
  httpStopMsMax: 5000,
  executeWaitMsDefault: 45_000,
} as const
