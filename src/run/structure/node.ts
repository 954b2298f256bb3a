/**
 * What is known of a program before it runs, as plain data: for previews, for exploring, and to
 * learn from.
 */
import type { Json } from '#model'

/**
 * `isWhole` is false where a bound was reached or where the program hands its tools to code that
 * cannot be followed: then it may do more than stands here. What stands here is read, not run: a
 * call may be made many times, once, or never.
 */
export type Structure =
  | { known: false; why: string }
  | {
      known: true
      nodes: StructureNode[]
      flows: Flow[]
      handed: Handed[]
      annotations: Annotation[]
      isWhole: boolean
    }

/**
 * Lines and columns count from 1, in the program as it was given. `within` is the node around it,
 * `arm` which part of that one.
 */
export type Place = { id: string; line: number; column: number; within: string | null; arm?: string }

export type StructureNode = CallNode | OperationNode | BranchNode | LoopNode | ParallelNode

/**
 * A call of a tool or of a capability (`cap:name`); `tools` are those it may be, empty where only
 * the run can tell.
 */
export type CallNode = Place & { kind: 'call'; tools: string[]; inputs: Input[] }

/** A pure operation: `code:filter`. */
export type OperationNode = Place & { kind: 'operation'; operation: string; tests: Test[] }

/**
 * Tools that it passes on as values, `{ get: mcp.a.b }`: they are called wherever those go, or
 * never.
 */
export type Handed = { tools: string[]; line: number }

export type BranchForm = 'if' | 'ternary' | 'switch' | 'try' | 'and' | 'or' | 'nullish'
/** `condition` is its text; `tests` are what it asks of arguments and results. */
export type BranchNode = Place & {
  kind: 'branch'
  form: BranchForm
  condition: string
  arms: string[]
  tests: Test[]
}

export type LoopNode = Place & { kind: 'loop'; form: 'for' | 'for-of' | 'for-in' | 'while' | 'do'; tests: Test[] }

export type ParallelNode = Place & { kind: 'parallel'; form: 'all' | 'allSettled' | 'race' | 'any'; tests: Test[] }

/** Where an argument comes from; `path` is a JSON Pointer into the arguments of the call. */
export type Input = { path: string; source: Source }

/**
 * Where a value comes from: a literal of the program, its `args`, or a call's result, at a JSON
 * Pointer in which `*` is some member. Not `exact` is what was computed from it, not handed on as
 * it is.
 */
export type Source =
  | { kind: 'literal'; value: Json; line: number; column: number; exact: boolean }
  | { kind: 'args'; path: string; exact: boolean }
  | { kind: 'call'; node: string; path: string; exact: boolean }

/** Def and use: what reaches which argument of which call. */
export type Flow = { from: 'args' | string; fromPath: string; to: string; toPath: string; exact: boolean }

/** What a condition asks of a value: `of` is `args` or a call's node. */
export type Test = { of: 'args' | string; path: string; asks: Question }
export type Question =
  | { kind: 'truth' | 'nothing' | 'there' | 'items' | 'failure' | 'list' }
  | { kind: 'equal' | 'order' | 'count' | 'part'; to: Json }
  | { kind: 'type'; to: string }
  | { kind: 'member'; to: string }

/** `@metier-depends` and `@metier-branches`, also in their older form `@pml-…`. */
export type Annotation = { kind: 'depends' | 'branches'; names: string[]; line: number }
