/**
 * Plays a whole record into a fresh program and compares; nothing is called and nothing is written.
 */
import { type AppError, type ProgramEnd, toAppError } from '#model'
import type { RunContext } from '#run/calls'
import { nextCallId, type ProgramTurn, RunPrograms, startTurn } from '#run/program'
import { type Journal, Replay, type SameArguments } from '#run/record'
import { playRecord } from './play-record.ts'

export type ReplayCheck = { ok: boolean; calls: number; end: ProgramEnd | null; error?: AppError }

type Programs = Pick<RunContext, 'program' | 'nest'>

export async function checkReplay(
  journal: Journal,
  { program, nest }: Programs,
  isSame?: SameArguments,
): Promise<ReplayCheck> {
  const replay = new Replay(journal, isSame)
  const programs = new RunPrograms(program)

  const play = async ({ state, turn, now }: ProgramTurn): Promise<ProgramTurn[]> => {
    const { calls, end } = await turn
    const nested: ProgramTurn[] = []
    for (const call of calls) {
      const id = nextCallId(state)
      const difference = replay.compare({ call, id, now })
      if (difference !== null) throw difference
      const source = call.code ?? call.tasks
      if (source !== undefined) nested.push(startTurn(programs.add(id, await nest(source, call.args, id, now)), now))
    }
    if (end !== undefined) state.end = end
    return nested
  }

  const result = () => ({ calls: programs.callCount, end: programs.root.end })
  try {
    await playRecord(journal, programs, { play, isOver: () => false, isAtOnce: false })
    const missing = replay.missing((path) => programs.issuedBy(path))
    if (missing !== null) throw missing
    return { ok: true, ...result() }
  } catch (error) {
    return { ok: false, ...result(), error: toAppError(error) }
  } finally {
    programs.drop()
  }
}
