/** What is about to run: a program, or a graph of tasks. */
import type { Json, JsonObject } from '#model/primitives'

export type Binding = { $from: string; path?: string }

export type DagTask = {
  id: string
  tool?: string
  arguments?: JsonObject
  dependsOn?: string[]
  type?: 'mcp_tool' | 'code_execution' | 'capability'
  code?: string
  sideEffects?: boolean
  retry?: { max: number; backoffMs: number }
  timeoutMs?: number
  /** The tool's answer is kept on the record as it came, beside the value that is made of it. */
  whole?: boolean
  when?: Binding & { equals?: Json; exists?: boolean }
  forEach?: Binding
}

/** The third kind is made above the engine, which only knows that there is a program for it. */
export type Plan =
  | { kind: 'code'; code: string }
  | { kind: 'dag'; tasks: DagTask[] }
  | { kind: 'agent'; agent: JsonObject }

/**
 * `wallMs` is used up while the run is owned and could move; `deadlineMs` after its start it is
 * over, whatever it waits for. Tokens and cost count where a tool reports its usage; the unit of
 * cost is the tools' own.
 */
export type Budget = {
  calls: number
  wallMs: number
  bytes: number
  tokens?: number
  cost?: number
  deadlineMs?: number
}

export type PermissionSet = 'minimal' | 'standard' | 'privileged'

export const runStatuses = [
  'running',
  'done',
  'failed',
  'cancelled',
  'approval_required',
  'uncertain',
  'interrupted',
  'suggested',
] as const

export type RunStatus = (typeof runStatuses)[number]

/** A run in one of these is over: nothing is added to its chain. */
export const finishedStatuses = ['done', 'failed', 'cancelled'] as const satisfies readonly RunStatus[]

export type FinishedStatus = (typeof finishedStatuses)[number]

export function isFinished(status: unknown): status is FinishedStatus {
  return finishedStatuses.some((end) => end === status)
}
