/**
 * Where a run stands under this owner, and everything that can happen to it there.
 *
 *   calls on record ──► replaying ──┬──► live ──┬─ its program ended, no call is open ─► over
 *   none on record ─────────────────┼──► live   ├─ only humans can move it ────────────► over
 *                                   │           │
 *        it differs, its time is up,│cancelled  │ the same, or its program died
 *                                   └──────► stopping ─┬─ no call is open ──────────────► over
 *                                                      └─ what is open is uncertain ────► over
 *   each of them ── leave(), or the record refuses an event ──► leaving ── released ────► over
 *
 * Live, a program gets its results and issues calls. While a run stops, nothing is delivered or
 * sent any more; what was sent and cannot be taken back is awaited and recorded. While its owner
 * leaves, only answers are recorded, for a moment.
 */
import type { EventBodies, IssuedCall, ProgramEnd, Tool } from '#model'
import type { OpenCall, Outcome, SendingCall } from '#run/calls'
import type { ProgramState } from '#run/program'
import type { RecordedCall, Replay, Stop } from '#run/record'

export type RunPhase =
  | { name: 'replaying'; replay: Replay }
  | { name: 'live' }
  | { name: 'stopping'; stop: Stop }
  | { name: 'leaving' }
  | { name: 'over' }

type AtTime = { now: number; definition: Tool | null }

export type RunInput =
  /** A program issued a call; or again one that the record holds without a result. */
  | ({ kind: 'issued'; call: IssuedCall; id: string } & AtTime)
  | ({ kind: 'reopened'; call: IssuedCall; recorded: RecordedCall } & AtTime)
  /** A call of the record that will not go on. */
  | { kind: 'abandoned'; recorded: RecordedCall }
  /** A program that runs as a call had ended when the replay was over. */
  | { kind: 'replayed'; path: string; end: ProgramEnd }
  | { kind: 'ended'; program: ProgramState; end: ProgramEnd }
  | { kind: 'died'; program: ProgramState; error: unknown }
  /** What the tries of a call came to, and in how long. */
  | { kind: 'tried'; call: SendingCall; outcome: Outcome; ms: number }
  /** A time has come that a call was waiting for. */
  | { kind: 'due'; call: OpenCall }
  /** Something was sent to the run. */
  | { kind: 'inbox' }
  | { kind: 'cancelled'; asked: EventBodies['cancel.asked'] }
  | { kind: 'stopped'; stop: Stop }
  /** A turn was handled. */
  | { kind: 'turned' }
