/**
 * A program in its box: it moves in turns, issues calls, and receives their results one at a time.
 */

import type { Json } from '#model/primitives'
import type { ErrorData } from './errors.ts'
import type { DagTask } from './plan.ts'

/** A call as the program issued it; its number is its place in the order of issue, from 1. */
export type IssuedCall = {
  tool: string
  args: string
  /** Why the program could not say it as JSON: it is on the record, and refused there. */
  refused?: string
  /** Why it is refused on the record, whatever else would be said of it. */
  refusal?: ErrorData
  /** The task of a graph that it belongs to. */
  task?: string
  /** A program that runs in a box of its own as this call; its own calls are numbered below it. */
  code?: string
  /** The same for a graph of tasks. */
  tasks?: DagTask[]
  /** The digest of a capability that runs as this call. */
  capability?: string
  timeoutMs?: number
  /** The answer is kept as it came. */
  whole?: boolean
  /** A human is asked even where the policy allows it. */
  ask?: boolean
}

/**
 * Around a program's text, so that it is the body of exactly one async function. The body starts on
 * a line of its own: the user's line n is the source's line n + 1.
 */
export const programOpening = '(async function () { "use strict";\n'
export const programClosing = '\n})'

export type LogLine = { level: 'log' | 'info' | 'warn' | 'error' | 'debug'; text: string }

/** Why a program is over: its value as JSON text, or the error that it threw. */
export type ProgramEnd = { ok: true; value: string } | { ok: false; error: ErrorData }

/** Everything that happened between one delivery and the next. */
export type Turn = {
  calls: IssuedCall[]
  logs: LogLine[]
  /** Pure operations, in the order in which they were done, where they are noted. */
  traced?: { operations: string[]; dropped: number }
  end?: ProgramEnd
}

/**
 * A result as it is delivered: the exact JSON text of the record, and the time at which it was
 * recorded.
 */
export type Delivery = { call: number; ok: boolean; text: string; now: number }

/**
 * Deliveries may be handed over without waiting for the turn of the one before; each is a turn of
 * its own, and turns come back in the order of the deliveries. A rejected turn is the death of the
 * box: the program is over.
 */
export type Program = {
  start(): Promise<Turn>
  deliver(delivery: Delivery): Promise<Turn>
  /** Ends the box at once; open turns are rejected. */
  drop(): void
}

/** What a program that runs as a call is made from. */
export type NestedSource = string | DagTask[]

/** Makes the program of a plan that another folder defines; throws where the plan is not sound. */
export type ProgramMaker = { version: string; make(source: Json): Program }

/**
 * The one tool that every program has although no server offers it: a timer, due at its turn's time
 * plus `ms`.
 */
export const timerTool = 'metier:timer'

/** A program as a call of another one. */
export const programTool = 'metier:program'
