/**
 * What the verbs answer with, as types: every one of them is plain JSON, so that it leaves without
 * a cast. A status says which members an answer has.
 */

import type { ToolSchema } from '#learn'
import type {
  Answer,
  ArgumentOrigin,
  DagTask,
  ErrorData,
  IsolationReport,
  Json,
  JsonObject,
  PermissionSet,
  PolicyRule,
  RunId,
  RunStatus,
} from '#model'

/** A recorded error: its context was read from JSON. */
export type ErrorAnswer = Omit<ErrorData, 'context'> & { context: JsonObject }

/** What to give to result() for the whole of something. */
type Handle = { run: string; call?: string }

/** A question to a human that is open. */
export type Approval = {
  id: string
  run: string
  call: string
  tool: string
  effect: string | null
  args: Json
  from: ArgumentOrigin[] | null
  why: string
  expiresAt: string
  url: string | null
  command: string
  /** What became of its form, where there was one. */
  note?: string
}

/** A tool that a plan names; what policy would say of it is there where it was asked. */
type MayCall = {
  tool: string
  lines: number[]
  tasks?: string[]
  effect?: string | null
  danger?: string | null
  then?: 'allow' | 'ask' | 'deny' | null
  because?: string | null
}

/** What a plan may call; not `isWhole`: others too, which only the run can tell. */
type PlanPreview = { mayCall: MayCall[]; isWhole: boolean; unread?: string }

/** An approval as it is shown to a person who judges it. */
export type Question = Approval &
  Partial<PlanPreview> & {
    /** What its run is for. */
    intent?: string | null
    /** What a line written with the answer would do, by its scope. */
    lines?: { run: string; always: string }
  }

type CallLine = {
  call: string
  task?: string
  tool: string
  args?: Json
  status: string
  ms: number
  preview: string
  bytes: number
}
type UncertainCall = { call: string; tool: string; args: Json; since: string }
type CallInFlight = { call: string; tool: string; status: string }

/** What every answer about a run has; a dry run has its mode and its calls beside it. */
type AboutRun = {
  run: RunId
  callCount: number
  ms: number
  isolation: IsolationReport | null
  mode?: 'dry-run' | 'explore'
  logs?: string[]
  /** Recalled and run for an intent alone, not by its name. */
  speculated?: true
  capability?: { id: string; version: number; confidence: number }
} & Partial<PlanPreview>

type Done = { status: 'done'; calls?: CallLine[] } & (
  | { result: Json }
  | { preview: string; bytes: number; handle: Handle }
)
type Ended = { status: 'failed' | 'cancelled'; error: ErrorAnswer; calls?: CallLine[] }
type Asking = { status: 'approval_required'; approvals: Approval[]; calls?: CallLine[] }
type Uncertain = { status: 'uncertain'; calls: UncertainCall[]; approvals?: Approval[] }
type Running = {
  status: 'running'
  interrupted?: true
  inFlight: CallInFlight[]
  approvals?: Approval[]
  calls?: CallLine[]
}

/** Only what the tool itself answered, for a caller who wants no more of a run that is done. */
type RawAnswer = { status: 'done'; run: RunId; raw: Answer }

/** `tasks` can be sent back as a plan, once what is missing is filled in. */
export type Suggestion = {
  tasks: DagTask[]
  /** The probability that exactly these tools will be used. */
  confidence: number
  rationale: string
  dependencyPaths: { from: string; to: string; explanation: string }[]
  toolSchemas: Record<string, ToolSchema>
  alternatives: string[]
  warnings: string[]
  capability?: { id: string; args: JsonObject; missing: string[] }
}

type Suggested = { status: 'suggested'; suggestion: Suggestion }

type KeysOf<Union> = Union extends unknown ? keyof Union : never

/** Each with the members of the others as absent: any can be asked for before the status. */
type Exclusive<Union, Keys extends PropertyKey = KeysOf<Union>> = Union extends unknown
  ? Union & { [Key in Exclude<Keys, keyof Union>]?: never }
  : never

type OfRun = (Done | Ended | Asking | Uncertain | Running) & AboutRun

/** How far execute() came. */
export type ExecuteAnswer = Exclusive<OfRun | RawAnswer | Suggested>

/** The same of a run that has begun, as its record tells it. */
export type RunAnswer = Extract<ExecuteAnswer, OfRun>

/** After a human's word: who goes on with the run, and the line of policy that was written. */
export type MovedAnswer = ExecuteAnswer & {
  resumed: 'here' | 'elsewhere' | 'not yet'
  line?: { rule: PolicyRule; scope: 'run' | 'always'; permissions: PermissionSet; then: string; says: string }
}

type FoundTool = { type: 'tool'; id: string; score: number; description: string } & (
  | { brief: true }
  | { brief?: never; why: string; input: Json; output?: Json; effect: string; effects?: string[] }
)

export type FoundCapability = {
  type: 'capability'
  id: string
  score: number
  brief?: never
  why: string
  description: string
  intent: string
  version: number
  status: string
  source: Json
  parametersSchema: JsonObject
  input: Json
  effect: string
  record: { runs: number; successes: number; confidence: number }
}

export type DiscoverAnswer = {
  status: 'found' | 'unsure' | 'nothing_fits'
  results: (FoundTool | FoundCapability)[]
  unmatched: string[]
  nearest: string[]
  silent?: string[]
  starting?: string[]
}

/** A page of a result; where there is none yet, its digest is null. */
export type ResultAnswer = {
  run: RunId
  status: RunStatus
  value?: Json
  text?: string
  offset: number
  next: number | null
  bytes: number
  digest: string | null
}

export type ReplayAnswer =
  | { ok: true; run: RunId; calls: number }
  | { ok: false; run: RunId; calls: number; error: ErrorAnswer }

export type ForgetAnswer = { rule: PolicyRule; forgets: number[] }
