/**
 * What the verbs can do, in two halves: RecordVerbs needs the store alone, Verbs the catalogue, the engine and boxes too. A
 * process that only reads opens the first and loads nothing of the second.
 */
import type { Catalog, ToolList } from '#catalog'
import type { Answer, Config, IsolationReport, Json, JsonObject, PermissionSet, RunId, Tool } from '#model'
import type { Stats, Store } from '#record'
import type { BoxHealth } from '#sandbox'
import type { Decision } from './decision.ts'
import type { Caller } from './execute.ts'
import type { RunFilter } from './list-runs.ts'
import type { Settling } from './settle.ts'

export type RecordVerbs = {
  store: Store
  result(input: unknown, caller: Caller): Promise<JsonObject>
  /** The whole of a result, or of a part of it, as JSON text. */
  resultText(input: { run: unknown; call?: unknown; path?: unknown }): Promise<string>
  /** How far a run came, as execute() says it; nothing is moved. */
  answer(run: string): JsonObject
  /** Newest first. */
  runs(filter?: RunFilter): JsonObject[]
  run(id: string): Promise<JsonObject>
  approvals(): JsonObject[]
  /** Approvals with the tools that their runs may call, as far as their plans tell. */
  named(approvals: JsonObject[]): Promise<JsonObject[]>
  /** Resolves when a question is none any more, or with false when that is no longer of interest. */
  whenAnswered(approval: string, over: AbortSignal): Promise<boolean>
  /** For an answer of execute(): what the server of a run of one call said, as it came; null where it did not, or where that was not kept. */
  whole(answer: JsonObject): Answer | null
  ledger(run?: string): Promise<JsonObject>
  /** For whoever asks often: `wholeAt` says when the record was last read from its first event on. */
  recentLedger(): Promise<JsonObject>
  /** The events of one run as they stand, each with its line. */
  lines(run: string): string[]
  events(seq: number, limit: number): { seq: number; line: string }[]
  /** How much of everything the record holds. */
  stats(): Stats
  onChange(listener: () => void): () => void
  close(): Promise<void>
}

export type Verbs = RecordVerbs & {
  catalog: Catalog
  discover(input: unknown, caller: Caller): Promise<JsonObject>
  execute(input: unknown, caller: Caller): Promise<JsonObject>
  resume(run: string, caller: Caller): Promise<JsonObject>
  cancel(run: string, caller: Caller, reason?: string): Promise<JsonObject>
  fork(run: string, at: number, args: Json | undefined, caller: Caller): Promise<JsonObject>
  replay(run: string): Promise<JsonObject>
  settle(run: string, call: string, settling: Settling, caller: Caller, goOn: boolean): Promise<JsonObject>
  decide(approval: string, decision: Decision, caller: Caller, goOn: boolean): Promise<JsonObject>
  /** Takes back a line of policy that an answer wrote for good, by its id. */
  forget(line: string, caller: Caller): Promise<JsonObject>
  /** Says where a gateway of this process is; without `--no-resume` it also goes on with what others answer. Undone by what comes back. */
  serveAt(url: string, resumes: boolean): () => void
  /**
   * Of one server as soon as it says so; of all without those that do not in time, which are among the problems. `firstMs` is
   * how long a server that was never listed may take.
   */
  tools(server?: string, firstMs?: number): Promise<{ tools: JsonObject[]; problems: ToolList['problems'] }>
  /** The tools as TypeScript declarations, for the editor in which programs are written. */
  types(): Promise<{ text: string; tools: number; problems: ToolList['problems'] }>
  /** What the configuration puts on the surface, in its order, as an agent may be told of it, without what is not there, or not in time. */
  exposed(isMeant?: (id: string) => boolean, msMax?: number): Promise<Tool[]>
  isolation(): Promise<IsolationReport>
  /** The set that holds where no line of policy decides. */
  permissions(): PermissionSet
  /** From now on what begins does so with this configuration; runs under way keep theirs. */
  reconfigure(config: Config): void
  /** Whether a program could be run now; known from the last one, so that asking costs nothing. */
  health(): BoxHealth
  /** Lets go of every run under way, so that it can be resumed; requests that wait for one are answered. */
  letGo(): Promise<void>
}

export type Surroundings = {
  /** Told of every run that came to rest. */
  settled?: (verbs: Verbs, run: RunId) => void
  path?: string
  home?: string
  /** What a command at a terminal needs to find this home, with a space before it. */
  homeOption?: string
  log?: (line: string) => void
}
