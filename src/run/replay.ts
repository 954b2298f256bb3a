/** Compares what a replayed program issues with what the record holds, and keeps what has to move on when the replay is over. */
import { AppError, type IssuedCall, limits } from '#model'
import type { Journal, RecordedCall } from './journal.ts'
import { placeOf } from './place.ts'

export type Issue = { call: IssuedCall; id: string; now: number }

export class Replay {
  /** Calls of the record that have no result yet, and calls that the record does not know. */
  readonly open: { recorded: RecordedCall; issue: Issue }[] = []
  readonly anew: Issue[] = []
  readonly #calls: Journal['calls']

  constructor({ calls }: Journal) {
    this.#calls = calls
  }

  /** Answers with the difference, if there is one. */
  compare(issue: Issue): AppError | null {
    const { call, id } = issue
    const recorded = this.#calls.get(id)
    if (recorded === undefined) {
      if (!this.#isOver(placeOf(id).program)) this.anew.push(issue)
    } else if (recorded.tool !== call.tool || recorded.args !== call.args) return mismatch(recorded, call)
    else if (recorded.last !== 'resolved') this.open.push({ recorded, issue })
    return null
  }

  /** What ended a program may not be there any more when it is replayed: its box died, or its time was up. It issues nothing new. */
  #isOver(program: string): boolean {
    return this.#calls.get(program)?.last === 'resolved'
  }

  /** Every recorded call must have been issued again; `issuedBy` tells how many calls a program has issued. */
  missing(issuedBy: (program: string) => number): AppError | null {
    for (const recorded of this.#calls.values()) {
      const { program, number } = placeOf(recorded.id)
      if (issuedBy(program) < number) return mismatch(recorded, null)
    }
    return null
  }
}

function mismatch(recorded: RecordedCall, call: IssuedCall | null): AppError {
  const found = call === null ? 'the program did not issue it again' : 'the program issued another call'
  const message = `Cannot replay call ${recorded.id}: ${found}; fork the run to go on from there`
  return new AppError('REPLAY_MISMATCH', message, {
    call: recorded.id,
    recorded: shown(recorded),
    replayed: call === null ? null : shown(call),
  })
}

function shown({ tool, args }: IssuedCall): { tool: string; args: string } {
  return { tool, args: args.slice(0, limits.previewCharactersMax) }
}
