/** Every bound of the product in one place, each with its unit. */

import { artifactLimits } from './limits-artifact.ts'
import { callLimits } from './limits-call.ts'
import { catalogLimits } from './limits-catalog.ts'
import { graphLimits } from './limits-graph.ts'
import { modelLimits } from './limits-model.ts'
import { passageLimits } from './limits-passage.ts'
import { planLimits } from './limits-plan.ts'
import { policyLimits } from './limits-policy.ts'
import { processLimits } from './limits-process.ts'
import { scriptLimits } from './limits-script.ts'
import { serverLimits } from './limits-server.ts'

export const limits = {
  ...artifactLimits,
  ...catalogLimits,
  ...callLimits,
  ...graphLimits,
  ...modelLimits,
  ...passageLimits,
  ...planLimits,
  ...policyLimits,
  ...processLimits,
  /** A member of an event's body whose JSON text is longer stands as a blob. */
  eventValueBytesMax: 64 * 1024,
  eventLineBytesMax: 1024 * 1024,
  blobBytesMax: 64 * 1024 * 1024,
  commitRequestsMax: 1024,
  /** A longer write goes to the writer in parts. */
  writePartEventsMax: 128,
  earlyAsksMax: 16,
  /**
   * A lone write is committed by the thread that asks, if it is no longer than this and the disk no
   * slower; else not for a while.
   */
  commitHereEventsMax: 32,
  commitHereCharactersMax: 65_536,
  commitHereMsMax: 5,
  commitsSlowMax: 3,
  commitElsewhereMs: 10_000,
  /**
   * Runs that write within so little time of each other share commits; after so long without, the
   * next one need not.
   */
  crowdedMs: 5,
  writerQuietMs: 50,
  /** After so many commits without it, the writer looks after the log. */
  tendCommits: 16,
  /** An event appended without waiting is committed after this time at the latest. */
  commitDelayMsMax: 20,
  /** Of a run that began here, so much is kept to answer from while it is under way. */
  chainKeptCharactersMax: 65_536,
  checkpointEventsMax: 1000,
  /**
   * The whole record is verified again at most this often, and for at most one part in so many of
   * the time.
   */
  verifyWholeMsMin: 60_000,
  verifyWholePauseMax: 20,
  checkpointMsMax: 10 * 60 * 1000,
  storeBusyMsMax: 5000,
  /** A longer write-ahead log is moved into the database. */
  storeLogPagesMax: 4000,
  /**
   * So many pages of the log's file are kept free for the next commits, once as many were used; it
   * grows by leaps.
   */
  storeLogRoomPages: 16,
  storeLogLeapPages: 128,
  /**
   * A process that waits for the database's lock tries again this often: SQLite's own busy handler
   * sleeps longer and longer, and starves.
   */
  storeBusyStepMs: 10,
  foreignPollMs: 50,
  /** How often an answer to a run is looked at again, because another came in between. */
  inboxTriesMax: 100,
  retentionDaysDefault: 180,
  /** A file that is hashed or copied is read in pieces of this size. */
  filePieceBytes: 256 * 1024,
  /** What is large is worked through for so long before others have their turn. */
  sliceMs: 10,
  secretBytesMin: 8,
  secretBytesMax: 16 * 1024,
  secretsPerRunMax: 1000,
  /** A longer one is found again only by what found it first. */
  seenSecretCharactersMax: 512,

  /** What a program receives of one result. */
  resultBytesMax: 8 * 1024 * 1024,
  /** Above this an answer carries a preview and a handle instead of the result. */
  inlineResultBytesMax: 8 * 1024,
  /**
   * Of what a tool said of its failure; the whole of it stands beside the error, as a value to be
   * paged.
   */
  toolErrorCharactersMax: 8 * 1024,
  previewCharactersMax: 240,
  resultPageDefault: 8 * 1024,
  resultPageMax: 256 * 1024,
  /** A larger one is read by another thread. */
  resultHereBytesMax: 1024 * 1024,
  answerCallsMax: 50,

  programBytesMax: 256 * 1024,
  programArgumentsBytesMax: 1024 * 1024,
  programMemoryBytesMax: 64 * 1024 * 1024,
  /**
   * Free memory of an engine before its program begins; one that needs more gets it, and its engine
   * serves no other.
   */
  programMemoryReadyBytes: 1024 * 1024,
  programStackBytesMax: 256 * 1024,
  /**
   * Interrupt checks of the engine between two deliveries; stands in for CPU time, so that replay
   * sees the same end.
   */
  programTicksPerTurnMax: 20_000,
  programLogLinesMax: 1000,
  programLogLineBytesMax: 8 * 1024,
  callArgumentsBytesMax: 1024 * 1024,
  /** How long a process that ends waits for the answers of calls that may not be repeated. */
  landingMsMax: 2000,
  timerMsMax: 24 * 60 * 60 * 1000,
  boxStartMsMax: 10_000,
  boxPoolSize: 1,
  /** A box that was idle for so long is closed, except those of the pool. */
  boxIdleMsMax: 5000,
  /** Boxes of one program that may be killed under it before it is over. */
  boxDeathsMax: 3,
  /**
   * Programs that have a box at the same time; others wait, or take the box of one that waits
   * itself.
   */
  programsAwakeMax: 24,
  programsAwakePerCore: 4,
  /** Texts of programs that are kept ready to run. */
  programsReadyMax: 64,
  /**
   * Plans of which it is kept what they name, for lists of questions; one that names more tools is
   * read each time.
   */
  plansNamedMax: 4096,
  planToolsKeptMax: 32,
  /**
   * A program that waited for so long may lose its box to another; it is played again when its
   * result comes.
   */
  programIdleMsMin: 5,
  /** Of what a program heard, for playing it again without reading the record. */
  programKeptCharactersMax: 16 * 1024,
  /**
   * Open at a time, warm ones included; one more is refused, never queued: a nested program would
   * wait for its own parent.
   */
  boxesMax: 32,
  /**
   * A backstop for what the engine does between two of its ticks: the verdict is in ticks, this
   * only kills.
   */
  programTurnWallMsMax: 60_000,
  programTimersMax: 1000,
  toolIdCharactersMax: 512,
  /** For stripping the types of one program, the start of the thread that does it included. */
  programReadMsMax: 10_000,
  programErrorCharactersMax: 4096,
  boxStderrBytesMax: 4096,
  /** Heap and mappings of the process around the engine. */
  boxDataBytesMax: 1536 * 1024 * 1024,
  /**
   * The same around V8: each isolate sets aside half a gigabyte of addresses for code, and fills
   * little of it.
   */
  boxV8DataBytesMax: 4 * 1024 * 1024 * 1024,
  boxFilesMax: 64,
  /** Threads of Node, where a box counts them. */
  boxTasksMax: 64,
  /**
   * Over the whole life of a box; what it serves is bounded, so that no program meets the end of
   * another's share.
   */
  boxCpuSecondsMax: 5 * 3600,
  boxProgramsMax: 1000,
  /** Measured: 12 MB hold every recursion that 256 KB of the engine's own stack can hold. */
  boxStackBytesMax: 24 * 1024 * 1024,

  planTasksMax: 1000,
  /** Of a plan that is refused, so many problems are told. */
  planProblemsMax: 50,
  taskIdBytesMax: 128,
  taskItemsMax: 1000,
  taskRetriesMax: 10,
  taskTimeoutMsMax: 60 * 60 * 1000,
  nestingMax: 4,
  intentBytesMax: 16 * 1024,
  runKeyBytesMax: 256,

  budgetCallsDefault: 1000,
  budgetWallMsDefault: 600_000,
  budgetBytesDefault: 100_000_000,
  /**
   * The longest time that a timer of Node can wait; a budget beyond it is no bound for one owner.
   */
  timeoutMsMax: 2 ** 31 - 1,

  approvalMsDefault: 60 * 60 * 1000,
  approvalMsMin: 1000,
  /**
   * A post to the webhook of approvals: how long it may take, how often it is tried, and how many
   * may wait.
   */
  webhookMsMax: 10_000,
  webhookTriesMax: 3,
  webhookPauseMs: 1000,
  webhookPendingMax: 1000,
  /**
   * How long a process that recorded an answer waits for the owner of the run, or a gateway, to go
   * on with it.
   */
  takeUpMsMax: 10_000,
  reasonBytesMax: 4096,
  /**
   * Of the arguments of a call, what a question shows; longer ones are shown in part and cannot be
   * edited in place.
   */
  shownArgumentsCharactersMax: 4000,
  /** Forms in a row for one request: clients give up after ten. */
  formsPerRequestMax: 8,
  /**
   * What surely stands on one line of a host's form, beside its label, on a screen of 80 columns.
   */
  formLineCharactersMax: 60,
  /** After so many answers in a form that cannot be read, its question is left to other places. */
  unreadableAnswersMax: 2,
  /**
   * The start of an id that stands for it, and that is printed; how many alike are named.
   */
  idPrefixCharactersMin: 6,
  idShortCharacters: 18,
  idCandidatesMax: 10,
  /** Questions that clients closed without an answer, and that they are not asked again. */
  closedFormsMax: 10_000,
  /** How often a gateway looks for approvals that expired. */
  expiryLookMs: 10_000,

  upstreamStartMsMax: 30_000,
  /**
   * How long a list of tools waits for one of a server that was never asked before: hosts
   * themselves wait ten seconds for all of us.
   */
  toolListMsMax: 5000,
  upstreamStopMsMax: 2000,
  upstreamIdleMsDefault: 300_000,
  /** Of one message of a server, over whichever wire. */
  upstreamLineBytesMax: 256 * 1024 * 1024,
  upstreamDepthMax: 512,
  /** Of what a server was sent and has not read. */
  upstreamUnreadBytesMax: 64 * 1024 * 1024,
  upstreamStderrBytesMax: 16 * 1024,
  catalogToolsMax: 100_000,
  toolNameCharactersMax: 256,
  toolSchemaBytesMax: 256 * 1024,
  toolSchemaDepthMax: 64,

  discoverLimitDefault: 10,
  discoverLimitMax: 50,

  httpBodyBytesMax: 4 * 1024 * 1024,
  httpBodyDepthMax: 512,
  httpSessionsMax: 1000,
  /**
   * Of a gateway that stops: for the answers of runs that were let go of, then for who is slow to
   * read. With all else that is within ten seconds.
   */
  httpAnswersMsMax: 1000,
  httpStopMsMax: 3000,
  executeWaitMsDefault: 45_000,
  /** How long an answer waits after a question that the client cannot show. */
  questionMsMax: 2000,

  configBytesMax: 1024 * 1024,
  /** Of another host, read by `init`: some keep their history in the same file. */
  foreignConfigBytesMax: 64 * 1024 * 1024,
  configDepthMax: 64,
  /**
   * How long a server that is to end may take after the end of its input, before it gets SIGTERM.
   */
  upstreamEndOfInputMsMax: 500,
  /** How long an answer may still be read after its server ended. */
  upstreamDrainMsMax: 1000,
  upstreamGonePollMs: 20,
  /** How often we look for what a server left behind, and what that started meanwhile. */
  markedRoundsMax: 8,
  /** How long a run waits for the servers of its dead owner to be gone. */
  leftoversMsMax: 10_000,
  /** Of a server's last words, what stands in an error. */
  upstreamReasonCharactersMax: 1000,
  catalogPagesMax: 1000,
  /** Of the definitions of one server's tools, over all pages. */
  catalogListBytesMax: 64 * 1024 * 1024,
  /** A server that could not be asked for its tools is asked again after this time. */
  upstreamAskAgainMs: 10_000,
  /** How long a search waits for servers of which nothing is remembered. */
  discoverWaitMsMax: 3000,
  /** Runs that one stateful server is kept for. */
  statefulRunsMax: 10_000,
  /**
   * So many starts may fail one after the other before a server is left alone, for longer and
   * longer.
   */
  upstreamFreeStartsMax: 3,
  upstreamBackoffMsMin: 500,
  upstreamBackoffMsMax: 30_000,

  /** From the first to the last byte of a request; an answer may take longer. */
  httpRequestMsMax: 30_000,
  httpConnectionsMax: 2048,
  /** A connection that is silent for so long is probed by the kernel (TCP keep-alive). */
  httpSilentMs: 60_000,
  gatewayTokenCharactersMin: 32,
  /** Over HTTP, where no other number is asked for. */
  runsListedDefault: 1000,
  /** Of what a program printed, what stands in an answer: the last lines. */
  answerLogLinesMax: 20,
  answerLogCharactersMax: 2000,
  /** At a terminal, where a thousand lines are too many to read. */
  runsShownDefault: 50,
  httpStreamsMax: 64,
  httpStreamPageEvents: 500,
  httpHeartbeatMs: 15_000,
  stdioMessageBytesMax: 4 * 1024 * 1024,
  /** Of a host that started us: what it has not read, and what it waits for. */
  stdioUnreadBytesMax: 16 * 1024 * 1024,
  stdioRequestsMax: 10_000,
  clientNameCharactersMax: 128,

  ...scriptLimits,
  ...serverLimits,

  /** How often a process that waits for a lock of another looks again. */
  lockPollMs: 20,

  jwtCharactersMax: 16 * 1024,
  /** How far the clocks of an issuer and of ours may differ. */
  jwtSkewSeconds: 30,
  jwksKeysMax: 64,
  /**
   * Keys of an issuer are asked for again after this time, good without an answer for the longer
   * one.
   */
  jwksMsMax: 10 * 60 * 1000,
  jwksStaleMsMax: 60 * 60 * 1000,
  /** Between two questions for keys, whatever tokens come. */
  jwksCoolDownMs: 30_000,
  /**
   * Of one client, in a minute: above what one gateway can do, so that only a loop gone wild meets
   * it.
   */
  httpRequestsPerMinuteDefault: 120_000,
  httpExecutesPerMinuteDefault: 60_000,
  rateClientsMax: 10_000,
  /** How often connections are looked at that are slow to speak. */
  httpCheckMs: 5000,
} as const
