/**
 * The product in two functions, discover() and execute(), with result() and what humans decide beside them.
 * Whatever enters is checked here; what leaves is plain data read from the record.
 */
import { type Catalog, declarationsOf, type ToolList } from '#catalog'
import {
  type Answer,
  type Config,
  type IsolationReport,
  type Json,
  type JsonObject,
  limits,
  type PermissionSet,
  parseId,
  type RunId,
  type Tool,
} from '#model'
import { openStore, openVerifier, type Stats, type Store, verify } from '#record'
import type { BoxHealth } from '#sandbox'
import { aboutRun, aboutRunNow } from './about-run.ts'
import { answerOf } from './answer.ts'
import { lineText } from './answer-logs.ts'
import { whenAnswered } from './attend.ts'
import { cancelRun, decideApproval, openApprovals, showRun } from './decide.ts'
import { type Decision, readDecision } from './decision.ts'
import { discover } from './discover.ts'
import { type Caller, execute, forkRun, replayRun, resume } from './execute.ts'
import { forgetLine } from './forget.ts'
import { announce } from './gateways.ts'
import { openGenerations } from './generations.ts'
import { listRuns, type RunFilter } from './list-runs.ts'
import { named } from './preview.ts'
import {
  adviceLines,
  argumentsLine,
  argumentsText,
  mayCallLines,
  originLine,
  originLines,
  type Question,
} from './question.ts'
import { argumentsHandle, result, resultText } from './result.ts'
import { notFound } from './run-view.ts'
import { type Settling, settleCall } from './settle.ts'
import { takeUp } from './take-up.ts'
import { wholeOf } from './whole.ts'

export {
  adviceLines,
  argumentsHandle,
  argumentsLine,
  argumentsText,
  type Caller,
  type Decision,
  lineText,
  mayCallLines,
  originLine,
  originLines,
  type Question,
  type RunFilter,
  readDecision,
  type Settling,
}

export type Verbs = {
  store: Store
  catalog: Catalog
  discover(input: unknown, caller: Caller): Promise<JsonObject>
  execute(input: unknown, caller: Caller): Promise<JsonObject>
  result(input: unknown, caller: Caller): Promise<JsonObject>
  /** The whole of a result, or of a part of it, as JSON text. */
  resultText(input: { run: unknown; call?: unknown; path?: unknown }): Promise<string>
  /** How far a run came, as execute() says it; nothing is moved. */
  answer(run: string): JsonObject
  resume(run: string, caller: Caller): Promise<JsonObject>
  cancel(run: string, caller: Caller, reason?: string): Promise<JsonObject>
  fork(run: string, at: number, args: Json | undefined, caller: Caller): Promise<JsonObject>
  replay(run: string): Promise<JsonObject>
  settle(run: string, call: string, settling: Settling, caller: Caller, goOn: boolean): Promise<JsonObject>
  decide(approval: string, decision: Decision, caller: Caller, goOn: boolean): Promise<JsonObject>
  /** Takes back a line of policy that an answer wrote for good, by its id. */
  forget(line: string, caller: Caller): Promise<JsonObject>
  /** Newest first. */
  runs(filter?: RunFilter): JsonObject[]
  run(id: string): JsonObject
  approvals(): JsonObject[]
  /** Approvals with the tools that their runs may call, as far as their plans tell. */
  named(approvals: JsonObject[]): JsonObject[]
  /** Resolves when a question is none any more, or with false when that is no longer of interest. */
  whenAnswered(approval: string, over: AbortSignal): Promise<boolean>
  /** Says where a gateway of this process is; without `--no-resume` it also goes on with what others answer. Undone by what comes back. */
  serveAt(url: string, resumes: boolean): () => void
  /**
   * Of one server as soon as it says so; of all without those that do not in time, which are among the problems. `firstMs` is
   * how long a server that was never listed may take.
   */
  tools(server?: string, firstMs?: number): Promise<{ tools: JsonObject[]; problems: ToolList['problems'] }>
  /** The tools as TypeScript declarations, for the editor in which programs are written. */
  types(): Promise<{ text: string; tools: number; problems: ToolList['problems'] }>
  /** For an answer of execute(): what the server of a run of one call said, as it came; null where it did not, or where that was not kept. */
  whole(answer: JsonObject): Answer | null
  /** What the configuration puts on the surface, in its order, as an agent may be told of it, without what is not there, or not in time. */
  exposed(isMeant?: (id: string) => boolean, msMax?: number): Promise<Tool[]>
  ledger(run?: string): Promise<JsonObject>
  /** For whoever asks often: `wholeAt` says when the record was last read from its first event on. */
  recentLedger(): Promise<JsonObject>
  /** The events of one run as they stand, each with its line. */
  lines(run: string): string[]
  events(seq: number, limit: number): { seq: number; line: string }[]
  /** How much of everything the record holds. */
  stats(): Stats
  onChange(listener: () => void): () => void
  isolation(): Promise<IsolationReport>
  /** The set that holds where no line of policy decides. */
  permissions(): PermissionSet
  /** From now on what begins does so with this configuration; runs under way keep theirs. */
  reconfigure(config: Config): void
  /** Whether a program could be run now; known from the last one, so that asking costs nothing. */
  health(): BoxHealth
  /** Lets go of every run under way, so that it can be resumed; requests that wait for one are answered. */
  letGo(): Promise<void>
  close(): Promise<void>
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

export async function openVerbs(
  config: Config,
  { path, home, homeOption = '', settled, log = () => {} }: Surroundings,
): Promise<Verbs> {
  const store = await openStore({ home: config.home, homeOption })
  const baseEnv = { ...(path === undefined ? {} : { PATH: path }), ...(home === undefined ? {} : { HOME: home }) }
  const generations = openGenerations(config, { store, baseEnv, log, settled: (run) => settled?.(verbs, run) })
  const { catalog, engine } = generations
  // Whatever goes on with their runs waits for that too; here it is done for those that had none.
  const swept = Promise.all(store.dead.map((owner) => catalog.leftoversOf(owner).catch(({ message }) => log(message))))
  const recentVerdict = openVerifier(config.home)
  const leaving = new AbortController()
  const parts = {
    store,
    engine,
    catalog,
    get policy() {
      return generations.config().policy
    },
    leaving: leaving.signal,
  }
  let closing: Promise<void> | undefined
  let changed = () => {}
  const letGo = () => {
    leaving.abort()
    return engine.close()
  }
  const close = async () => {
    await letGo()
    await Promise.all([generations.close(), swept])
    await store.close()
  }
  const verbs: Verbs = {
    store,
    catalog,
    discover: (input) => discover(catalog, input),
    execute: (input, caller) => execute(parts, input, caller),
    result: (input) => result(store, input),
    resultText: async (input) => resultText(store, input),
    answer: (run) => aboutRunNow(store, id(run), () => answerOf(store, id(run))),
    resume: (run, caller) => resume(parts, id(run), caller, caller.waitMs ?? null),
    cancel: (run, caller, reason) => aboutRun(store, id(run), () => cancelRun(parts, id(run), caller, reason)),
    fork: (run, at, args, caller) => forkRun(parts, id(run), at, args, caller),
    replay: (run) => aboutRun(store, id(run), () => replayRun(parts, id(run))),
    settle: (run, call, settling, caller, goOn) =>
      aboutRun(store, id(run), () => settleCall(parts, id(run), call, settling, caller, goOn)),
    decide: (approval, decision, caller, goOn) => decideApproval(parts, approval, decision, caller, goOn),
    forget: (line, caller) => forgetLine(store, line, caller),
    runs: (filter) => listRuns(store, filter),
    run: (run) => aboutRunNow(store, id(run), () => showRun(parts, id(run))),
    approvals: () => openApprovals(parts),
    named: (approvals) => named(parts, approvals),
    whenAnswered: (approval, over) => whenAnswered(store, approval, over),
    serveAt: (url, resumes) => {
      const say = () => announce(store, { url, servers: resumes ? catalog.digests() : null })
      const undo = [say(), ...(resumes ? [takeUp(parts, log)] : [])]
      changed = say
      return () => {
        changed = () => {}
        for (const step of undo) step()
      }
    },
    tools: async (server, firstMs = limits.toolListMsMax) => {
      const how = server === undefined ? { waitMs: limits.toolListMsMax, firstMs } : { server }
      const { tools, problems } = await catalog.tools(how)
      return { tools: tools.map((tool) => toolLine(tool, catalog)), problems }
    },
    types: async () => {
      const { tools, problems } = await catalog.tools({ waitMs: limits.toolListMsMax, firstMs: limits.firstListMsMax })
      return { text: declarationsOf(tools.map((tool) => catalog.told(tool))), tools: tools.length, problems }
    },
    whole: (answer) => wholeOf(store, answer),
    exposed: async (isMeant = () => true, msMax) => {
      const tools = generations
        .config()
        .expose.filter(isMeant)
        .map((id) => catalog.tool(id, msMax))
      return (await Promise.all(tools)).flatMap((tool) => (tool === undefined ? [] : catalog.told(tool)))
    },
    ledger: async (run) => (await verify(config.home, run === undefined ? {} : { run })) as unknown as JsonObject,
    recentLedger: async () => (await recentVerdict()) as unknown as JsonObject,
    lines(run) {
      if (store.run(id(run)) === undefined) throw notFound(store, id(run))
      return store.lines(id(run))
    },
    events: (seq, limit) => store.eventsSince(seq, limit),
    stats: () => store.stats(),
    onChange: (listener) => store.onChange(listener),
    permissions: () => generations.config().policy.permissions,
    isolation: () => generations.boxes().isolation(),
    reconfigure(next) {
      generations.change(next)
      changed()
      catalog.warmUp()
      // Boxes of another configuration are tested before somebody asks whether they hold.
      void generations
        .boxes()
        .isolation()
        .catch(() => {})
    },
    health: () => generations.boxes().health(),
    letGo,
    close: () => (closing ??= close()),
  }
  return verbs
}

const id = (run: string) => parseId<RunId>('run', run, '; "metier runs" lists them')

function toolLine(tool: Tool, catalog: Catalog): JsonObject {
  const { id, description, effect, effectFrom, input, observed, output = observed, digest } = tool
  const changed = catalog.changeOf(tool)
  return {
    id,
    description,
    effect,
    effectFrom,
    input,
    ...(output === undefined ? {} : { output }),
    pinned: catalog.isPinned(tool),
    ...(changed === null ? {} : { changed: changed as unknown as Json }),
    digest,
  }
}
