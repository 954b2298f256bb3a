/**
 * One entry of the record, and what each type of it carries. The words here are frozen: others rely
 * on them.
 */
import type { PolicyRule } from '#model/configuration'
import type { Json, JsonObject, RawJson } from '#model/primitives'
import type {
  Budget,
  DagTask,
  Effect,
  EffectOrigin,
  ErrorData,
  IsolationReport,
  LogLine,
  PermissionSet,
  Plan,
  Usage,
} from '#model/terms'

/** The home's chain stands beside the runs' under this name. */
export const homeChain = 'home'

/**
 * `learn` executes a capability to verify it. `subject` is there where people are told apart.
 */
export type Actor = { kind: 'cli' | 'mcp' | 'http' | 'agent' | 'learn'; name: string; subject?: string }
/** By JSON Pointer; a side that had nothing there has no member. */
export type ToolDiff = { field: string; before?: unknown; after?: unknown }[]

/**
 * Where the argument at `path` of a call comes from: a literal of the plan, the run's `args`, or a
 * call's result, there at `resultPath` (`*` is some item). `computed` is what was made from it, not
 * handed on as it is.
 */
export type ArgumentOrigin = {
  path: string
  source: 'literal' | 'args' | 'call'
  call?: string
  resultPath?: string
  line?: number
  computed?: boolean
}

export type CapabilitySource = { type: 'code'; code: string } | { type: 'dag'; tasks: DagTask[] }

export type EventBodies = {
  'run.started': {
    intent: string | null
    mode: 'run' | 'dry-run' | 'explore'
    /** What stands in for results where nothing is called, and how many paths are looked for. */
    mocks?: unknown
    maxBranches?: number
    plan: { kind: Plan['kind']; source: unknown; digest: string }
    args: Json
    actor: Actor
    permissions: PermissionSet
    budget: Budget
    /** 32 random bytes in hexadecimal; the program's chance is drawn from it. */
    seed: string
    engine: { name: string; version: string; digest: string }
    servers: Record<string, string>
    isolation: IsolationReport | null
    key?: string
    /** The W3C trace context in which the run was asked for. */
    traceparent?: string
    parent?: string
    /**
     * `args` are those that the call at the fork gets in place of the program's; `startedAt` is the
     * time of its first turn.
     */
    forkedFrom?: { run: string; at: string; args?: Json; startedAt?: string }
    /** The capability that is the plan, `cap:name@2`. */
    capability?: string
    /** Recalled by an intent alone, with this confidence, not by its name. */
    speculated?: number
  }
  'call.issued': {
    call: string
    tool: string
    task?: string
    args: RawJson | Json
    /** What a fork puts in place of the program's arguments. */
    edited?: RawJson | Json
    effect: Effect | null
    effectFrom: EffectOrigin | null
    key?: string
    definition: string | null
  }
  /** `args` if a human edited them, with the class of the call where they decide it. */
  'call.sent': { call: string; attempt: number; args?: RawJson | Json; effect?: Effect }
  'call.resolved': {
    call: string
    attempt: number
    outcome: 'answered' | 'not_sent' | 'refused' | 'cancelled' | 'settled'
    ok: boolean
    value?: RawJson | Json
    error?: ErrorData
    /** What the server said, as it came, where the plan wants it whole. */
    answer?: RawJson | Json
    ms: number
    /** As the tool reported it. */
    usage?: Usage
    by: 'upstream' | 'mock' | 'record' | 'human' | 'engine'
    /** When it arrived in the run that it was taken from. */
    arrivedAt?: string
  }
  'approval.asked': {
    approval: string
    call: string
    digest: string
    why: string
    expiresAt: string
    from?: ArgumentOrigin[]
  }
  'approval.answered': {
    approval: string
    call: string
    digest: string
    answer: 'approved' | 'denied' | 'expired'
    who: string
    from: string
    args?: Json
    reason?: string
    /** A line of policy that the human chose to write, for the rest of this run or for good. */
    rule?: PolicyRule
  }
  'call.settled': {
    call: string
    /** The try whose outcome is said: the word does not hold for another. */
    attempt?: number
    how: 'done' | 'failed' | 'again'
    value?: Json
    text?: string
    who: string
    from: string
  }
  'cancel.asked': { who: string; from: string; reason?: string }
  /**
   * A line that stands from now on, with the approval in whose answer it was written and the
   * permission set that was in force for that call; or, with the numbers of its events, one that
   * does not.
   */
  'policy.changed': {
    rule: PolicyRule
    who: string
    from: string
    approval?: string
    permissions?: PermissionSet
    forgets?: number[]
  }
  'run.logged': { lines: LogLine[]; dropped?: number }
  /** Of one turn; `call` is the one that the program runs as, where it is not the run's own. */
  'code.traced': { operations: string[]; call?: string; dropped?: number }
  'run.suspended': { why: 'approval' | 'uncertain' | 'stopped'; calls: string[] }
  'run.resumed': {
    by: string
    epoch: number
    engine: { name: string; version: string; digest: string }
    isolation: IsolationReport | null
  }
  'run.finished': {
    status: 'done' | 'failed' | 'cancelled'
    result?: RawJson | Json
    error?: ErrorData
    callCount: number
    ms: number
  }
  /** `store` is the bucket that has it, `s3://bucket/prefix`; absent: it is in the home. */
  'artifact.stored': { id: string; name: string; bytes: number; digest: string; store?: string }
  'run.opened': { run: string }
  'run.closed': { run: string; head: string; count: number }
  /**
   * `requestKey` is the key of its request; the signature is that of the home, over the rest: only
   * the owner of that key removes a run.
   */
  'run.purged': {
    run: string
    head: string
    count: number
    who: string
    from: string
    requestKey?: string
    signature: string
    key: string
  }
  /** `diff` is from nothing: the whole definition. */
  'tool.pinned': { tool: string; digest: string; diff: ToolDiff }
  'tool.changed': { tool: string; digest: string; diff: ToolDiff }
  'tool.accepted': { tool: string; digest: string; who: string }
  /**
   * A procedure that worked, without its prefix `cap:`; `digest` is that of its source's JSON text,
   * `shape` that of its canonical program, `tools` has the digest of each definition.
   */
  'capability.learned': {
    capability: string
    version: number
    intent: string
    subject: string | null
    source: CapabilitySource
    digest: string
    shape: string
    parametersSchema: JsonObject
    tools: Record<string, string>
    effect: Effect | null
    servers: string[]
    runs: string[]
    /** By parameter, the places of the literals of those runs' programs that it stands for. */
    lifted?: Record<string, number[]>
    /** Literals that are texts with parameters in them. */
    texts?: {
      at: number
      pieces: (string | { parameter: string; form: 'same' | 'capital' | 'lower' | 'upper' })[]
    }[]
    imported?: true
  }
  /** By which runs it was held against the record, and how. */
  'capability.verified': {
    capability: string
    version: number
    digest: string
    how: ('rehearsed' | 'executed')[]
    runs: string[]
    tools: Record<string, string>
    /** Of one that was imported: as its calls here say. */
    effect?: Effect | null
    servers?: string[]
  }
  /** Of one version, or of all; `shape` is what is not to be learned again. */
  'capability.changed': {
    capability: string
    version?: number
    status: 'demoted' | 'stale' | 'disabled' | 'enabled' | 'forgotten' | 'candidate'
    why: string
    who: string
    from: string
    shape?: string
  }
  /**
   * What was learned up to the home's n-th event, before runs that taught it are purged: the rows
   * that changed since the event of this type before, and the digest of all.
   */
  'learn.folded': { n: number; digest: string; state: Json }
  /**
   * The record was put in place from a backup; `digest` is that of its database. What came after
   * the backup is lost.
   */
  'ledger.restored': { from: string; digest: string }
  /**
   * `purges` says that from here on every `run.purged` is signed; checkpoints of older versions
   * lack it.
   */
  'ledger.checkpointed': {
    heads: Record<string, { n: number; hash: string }>
    purges?: 'signed'
    signature: string
    key: string
  }
}

export type EventType = keyof EventBodies

/**
 * What other processes may put into a run's inbox; its owner takes it from there into the chain.
 */
export type InboxType = 'approval.answered' | 'call.settled' | 'cancel.asked'
