/** What follows from a step of a run or of one of its calls, to be done in this order. */
import type { AppError, Delivery, EventBodies } from '#model'
import type { OpenCall, SendingCall } from './open-call.ts'

export type FollowUp =
  /** To be tried, as soon as there is room. */
  | { kind: 'send'; call: SendingCall }
  /** Something is due for it then, unless the signal is aborted before. */
  | { kind: 'wake'; call: OpenCall; due: number; signal: AbortSignal }
  /** A result took its place in the record: its program gets it. */
  | { kind: 'deliver'; program: string; delivery: Delivery }
  /** A human was asked. */
  | { kind: 'ask' }
  /** A server lost what the run had built up in it: the run cannot go on. */
  | { kind: 'stop'; error: AppError }
  /** The owner lets go of the run, since it cannot move it. */
  | { kind: 'leave'; error: unknown }
  | { kind: 'suspend'; body: EventBodies['run.suspended'] & { why: 'approval' | 'uncertain' } }
  | { kind: 'finish'; body: EventBodies['run.finished'] }
