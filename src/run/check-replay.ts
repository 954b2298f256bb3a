/**
 * Plays a whole record into a fresh program and compares; nothing is called and nothing is written.
 */
import { type AppError, type Delivery, type Program, type ProgramEnd, type Turn, toAppError } from '#model'
import type { RunContext } from './call-context.ts'
import { formatCallId } from './call-id.ts'
import type { Journal } from './journal.ts'
import { Replay } from './replay.ts'

export type ReplayCheck = { ok: boolean; calls: number; end: ProgramEnd | null; error?: AppError }

type Seat = { path: string; program: Program; issued: number; end: ProgramEnd | null }
type Nest = RunContext['nest']

export async function checkReplay(journal: Journal, program: Program, nest: Nest): Promise<ReplayCheck> {
  const replay = new Replay(journal)
  const root: Seat = { path: '', program, issued: 0, end: null }
  const seats = new Map([['', root]])

  const hear = async (seat: Seat, { calls, end }: Turn, now: number): Promise<void> => {
    for (const call of calls) {
      seat.issued += 1
      const id = formatCallId({ program: seat.path, number: seat.issued })
      const difference = replay.compare({ call, id, now })
      if (difference !== null) throw difference
      const nested = call.code ?? call.tasks
      if (nested !== undefined) await sit(await nest(nested, call.args, id, now), id, now)
    }
    if (end !== undefined) seat.end = end
  }
  const sit = async (nested: Program, path: string, now: number): Promise<void> => {
    const seat: Seat = { path, program: nested, issued: 0, end: null }
    seats.set(path, seat)
    await hear(seat, await nested.start(), now)
  }
  const deliver = async (path: string, delivery: Delivery): Promise<void> => {
    const seat = seats.get(path)
    if (seat === undefined || seat.end !== null || root.end !== null || delivery.call > seat.issued) return
    await hear(seat, await seat.program.deliver(delivery), delivery.now)
  }

  const result = () => ({ calls: [...seats.values()].reduce((sum, { issued }) => sum + issued, 0), end: root.end })
  try {
    await hear(root, await program.start(), journal.beganAt)
    for (const recorded of journal.deliveries) await deliver(recorded.program, recorded.delivery)
    const missing = replay.missing((path) => seats.get(path)?.issued ?? 0)
    if (missing !== null) throw missing
    return { ok: true, ...result() }
  } catch (error) {
    return { ok: false, ...result(), error: toAppError(error) }
  } finally {
    for (const seat of seats.values()) seat.program.drop()
  }
}
