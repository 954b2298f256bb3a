/** Plays a record into the programs of its run: they get every recorded result, in its order. */
import { hasCapabilities } from '#run/calls'
import { deliverTurn, type ProgramTurn, type RunPrograms, startTurn } from '#run/program'
import type { Journal } from '#run/record'

type Player = {
  /** Resolves with the first turns of the programs that this one runs as its calls. */
  play(turn: ProgramTurn): Promise<ProgramTurn[]>
  /** True when nothing more need be played. */
  isOver(): boolean
  /**
   * A box that runs alone is told everything at once, and plays it turn by turn. Else a delivery
   * waits for the turns before it: they may open the program that it is for.
   */
  isAtOnce: boolean
}

export async function playRecord(
  { beganAt, deliveries }: Journal,
  programs: RunPrograms,
  { play, isOver, isAtOnce }: Player,
): Promise<void> {
  const turns = [startTurn(programs.root, beganAt)]
  const playAll = async () => {
    for (let turn = turns.shift(); turn !== undefined; turn = turns.shift()) turns.push(...(await play(turn)))
  }
  for (const { program, delivery } of deliveries) {
    if (!isAtOnce) await playAll()
    const state = programs.get(program)
    const isExpected = state !== undefined && (isAtOnce || delivery.call <= state.issued)
    if (isExpected && programs.isOpen(state) && !isOver()) turns.push(deliverTurn(state, delivery))
  }
  await playAll()
}

/** Code that ran no capabilities has no other program in it. */
export function runsAlone(journal: Journal): boolean {
  return journal.started.plan.kind === 'code' && !hasCapabilities(journal)
}
