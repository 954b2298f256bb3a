/**
 * What the verbs can do, in two halves: RecordVerbs needs the store alone, Verbs the catalogue, the
 * engine and boxes too. A process that only reads opens the first and loads nothing of the second.
 */
import type { Logout, SessionServer, ToolList } from '#catalog'
import type {
  Answer,
  AppError,
  Config,
  Effect,
  Event,
  EventType,
  IsolationReport,
  Json,
  JsonObject,
  PermissionSet,
  ProgramMaker,
  RunId,
  Stored,
  Tool,
  ToolDiff,
} from '#model'
import type { ArtifactInput, Artifacts, openVerifier, Stats, Store, verify } from '#record'
import type { Proposal, StandingLine } from '#run'
import type { BoxHealth } from '#sandbox'
import type { Settlement } from '#verbs/decisions'
import type { Caller, Pursuit } from '#verbs/execute'
import type { Decision } from '#verbs/input'
import type { LearningVerbs } from '#verbs/learning'
import type {
  Approval,
  DiscoverAnswer,
  ExecuteAnswer,
  ForgetAnswer,
  MovedAnswer,
  Question,
  ReplayAnswer,
  ResultAnswer,
  RunAnswer,
  RunFilter,
} from '#verbs/views'
import type { PassthroughVerbs } from './passthrough.ts'
import type { TaskGraphVerbs } from './task-graph.ts'
import type { WhyAnswer } from './why.ts'

export type RecordVerbs = KeepVerbs & {
  result(input: unknown, caller: Caller): Promise<ResultAnswer>
  /** The whole of a result, or of a part of it, as JSON text. */
  resultText(input: { run: unknown; call?: unknown; path?: unknown }): Promise<string>
  /** How far a run came, as execute() says it; nothing is moved. */
  answer(run: string): RunAnswer
  /** Newest first. */
  runs(filter?: RunFilter): JsonObject[]
  run(id: string): Promise<JsonObject>
  approvals(): Approval[]
  /** Approvals with the tools that their runs may call, as far as their plans tell. */
  withPlannedTools(approvals: Approval[]): Promise<Question[]>
  /**
   * Resolves when a question is none any more, or with false when that is no longer of interest.
   */
  whenAnswered(approval: string, over: AbortSignal): Promise<boolean>
  /**
   * What the server of a run of one call answered, as it came; null where it did not, or where that
   * was not kept.
   */
  rawAnswer(run: string): Answer | null
  ledger(run?: string): ReturnType<typeof verify>
  /** With a cache: `wholeAt` says when the record was last read from its first event on. */
  recentLedger(): ReturnType<ReturnType<typeof openVerifier>>
  /** The events of one run as they stand, each with its line. */
  lines(run: string): string[]
  events(seq: number, limit: number): { seq: number; line: string }[]
  /** How much of everything the record holds. */
  stats(): Stats
  onChange(listener: () => void): () => void
  /** What was learned, to be looked at; loaded when it is asked for. */
  learning(): Promise<LearningVerbs>
  /** Missions and tasks, to be looked at. */
  taskGraph: TaskGraphVerbs
  close(): Promise<void>
}

/** What people do about the record itself. */
export type KeepVerbs = {
  /** The JSON text of a member of an event, also of one that stands as a blob. */
  memberText(member: Stored<unknown>): string
  /** The events of a run, or of the home. */
  eventsOf(chain: string, options?: { after?: number; type?: EventType }): Event[]
  /** The same as they stand: the exact lines, none where there is no such chain. */
  linesOf(chain: string): string[]
  /** The newest run, or the approval that was asked for last and is open. */
  lastId(kind: 'run' | 'approval'): string | undefined
  idsStartingWith(kind: 'run' | 'approval', prefix: string, limit: number): string[]
  /** The lines of the file, and those that answers wrote for good. */
  policy(): Promise<Config['policy'] & { standing: (StandingLine & { isInForce: boolean })[] }>
  checkpoint(): ReturnType<Store['checkpoint']>
  /** Removes a finished run whole. */
  purge(run: RunId, caller: Caller): Promise<void>
  /** Removes what was finished more than so many days ago. */
  expire(days: number): Promise<RunId[]>
  backup(file: string): ReturnType<Store['backup']>
  /** Stores a file, and says so on the record. */
  storeArtifact(input: ArtifactInput): ReturnType<Artifacts['put']>
  /** Ed25519 by the key of the home. */
  sign(text: string): { key: string; signature: string }
}

/** A server as it answered just now; `refused` are its tools that changed and are not called. */
export type ServerCheck = {
  server: string
  era: 'legacy' | 'modern' | null
  /** How it is closed in, in words. */
  box: string
  tools: Tool[]
  refused: string[]
  problem: AppError | null
}

/** What policy says of a call; `then` is null where that depends on the arguments. */
export type Explanation = {
  tool: string
  effect: Effect
  effects?: readonly Effect[]
  effectFrom: Tool['effectFrom']
  danger: string | null
  then: 'allow' | 'ask' | 'deny' | null
  because: string
  notCovered?: readonly string[]
}

/** How a person logs in: `show` gets the address to open. */
type LoginRequest = {
  port: number
  show(url: URL, redirectUrl: string): void
  pasted: Promise<string>
  signal: AbortSignal
  scope?: string
}

export type ToolVerbs = {
  /**
   * Of one server as soon as it says so; of all without those that do not in time, which are among
   * the problems. `firstMs` is how long a server that was never listed may take.
   */
  tools(server?: string, firstMs?: number): Promise<{ tools: JsonObject[]; problems: ToolList['problems'] }>
  /** The tools as TypeScript declarations, for the editor in which programs are written. */
  types(): Promise<{ text: string; tools: number; problems: ToolList['problems'] }>
  /**
   * What the configuration puts on the surface, in its order, as an agent may be told of it,
   * without what is not there, or not in time.
   */
  exposed(isMeant?: (id: string) => boolean, msMax?: number): Promise<Tool[]>
  /** Heard when the configuration puts other tools there; answers with what ends it. */
  onExposedChange(listener: () => void): () => void
  /** Starts the servers whose tools were never listed, in the background. */
  warmUp(): void
  /** Asks every server for its tools now: those of the configuration, then our own. */
  checkServers(): Promise<ServerCheck[]>
  /** Why a server could not be asked, if that was so when it was asked last. */
  serverProblem(server: string): AppError | null
  /** The tool of this id, or for `server:*` those of the server that changed. */
  toAccept(tools: string): Promise<Tool[]>
  /** From now on the tool counts as it is; empty where nothing had changed. */
  accept(tool: Tool, caller: Caller): Promise<ToolDiff>
  explain(tool: string, args: Json | undefined): Promise<Explanation>
  /** Of tools whose class comes from nowhere. */
  suggestEffects(server: string): Promise<(Proposal & { tool: string })[]>
  login(server: string, request: LoginRequest): Promise<void>
  logout(server: string, signal: AbortSignal): Promise<Logout>
}

type MovingVerbs = {
  /** Servers that stand whole before a host. */
  passthrough: PassthroughVerbs
  discover(input: unknown, caller: Caller): Promise<DiscoverAnswer>
  /** What execute would do with an intent alone, and why; nothing runs. */
  why(intent: unknown, caller: Caller): Promise<WhyAnswer>
  execute(input: unknown, caller: Caller): Promise<ExecuteAnswer>
  /** Begins a session of the agent, and goes on with it until it rests. */
  pursue(pursuit: Pursuit, caller: Caller): Promise<ExecuteAnswer>
  /** Heard only of sessions that move in this process; answers with what ends it. */
  onSpeech(listener: SpeechListener): () => void
  resume(run: string, caller: Caller): Promise<ExecuteAnswer>
  cancel(run: string, caller: Caller, reason?: string): Promise<MovedAnswer>
  fork(run: string, at: number, args: Json | undefined, caller: Caller): Promise<ExecuteAnswer>
  replay(run: string): Promise<ReplayAnswer>
  settle(run: string, call: string, settling: Settlement, caller: Caller, goOn: boolean): Promise<MovedAnswer>
  decide(approval: string, decision: Decision, caller: Caller, goOn: boolean): Promise<MovedAnswer>
  /** Takes back a line of policy that an answer wrote for good, by its id. */
  forget(line: string, caller: Caller): Promise<ForgetAnswer>
  /**
   * Says where a gateway of this process is; without `--no-resume` it also goes on with what others
   * answer. Undone by what comes back.
   */
  announceGateway(url: string, resumes: boolean): () => void
  isolation(): Promise<IsolationReport>
  /** The set that holds where no line of policy decides. */
  permissions(): PermissionSet
  /** From now on what begins does so with this configuration; runs under way keep theirs. */
  reconfigure(config: Config): void
  /** Whether a program could be run now; known from the last one, so that asking costs nothing. */
  health(): BoxHealth
  /**
   * Lets go of every run under way, so that it can be resumed; requests that wait for one are
   * answered.
   */
  releaseRuns(): Promise<void>
}

/** What was learned as procedures, and what people decide about it. */
export type CapabilityVerbs = {
  /** The newest version of each. */
  capabilities(status?: string): JsonObject[]
  capability(id: string): JsonObject
  /** Holds it against the runs that it came from, and says so on the record. */
  verifyCapability(id: string): Promise<JsonObject>
  decideCapability(id: string, status: 'disabled' | 'enabled' | 'forgotten', caller: Caller): Promise<JsonObject>
  exportCapability(id: string): JsonObject
  importCapability(file: Json): Promise<JsonObject>
  /**
   * Learns, verifies and demotes what there is to; `isServing`: what only reads is also executed.
   */
  learnCapabilities(isServing: boolean, signal?: AbortSignal): Promise<string[]>
}

/** Everything. */
export type Verbs = RecordVerbs & ToolVerbs & MovingVerbs & CapabilityVerbs

/** What an agent's sessions add to the engine: they stand above the verbs, which are given them. */
export type SessionKit = {
  maker: ProgramMaker
  /**
   * Opened for each configuration; closed with the catalogue. `listening` answers with who hears
   * what a model says while it says it.
   */
  servers(parts: SessionParts, listening?: () => SpeechListener | undefined): SessionServer[]
  /** The files of a session in its workspace, as the record has it now. */
  writeBooks(record: RecordVerbs, session: string): Promise<void>
}

/** A piece of what the model of a session says; null where it has ended. Shown, never recorded. */
export type SpeechListener = (session: string, text: string | null) => void

export type SessionParts = {
  config: Config
  /** The plan of a session, by its run. */
  planOf(run: string): Json
  discover(input: Json): Promise<Json>
  /** A page of a recorded result. */
  result(asked: JsonObject): Promise<Json>
}

export type VerbsOptions = {
  /** Loaded with what moves runs. */
  sessions?: () => Promise<SessionKit>
  /** Told of every run that came to rest. */
  settled?: (verbs: Verbs, run: RunId) => void
  path?: string
  home?: string
  /** What a command at a terminal needs to find this home, with a space before it. */
  homeOption?: string
  log?: (line: string) => void
}
