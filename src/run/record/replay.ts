/**
 * Compares what a replayed program issues with what the record holds, and keeps what has to move on
 * when the replay is over.
 */
import { AppError, type IssuedCall, type Json, limits, toText } from '#model'
import { parseCallId } from './call-id.ts'
import type { Journal, RecordedCall } from './journal.ts'
import { leavesOf } from './json-leaves.ts'

/** Whether two JSON texts of arguments count as the same. */
export type SameArguments = (recorded: string, issued: string) => boolean
type Issue = { call: IssuedCall; id: string; now: number }

export class Replay {
  /** Calls of the record that have no result yet, and calls that the record does not know. */
  readonly open: { recorded: RecordedCall; issue: Issue }[] = []
  readonly unrecorded: Issue[] = []
  readonly #calls: Journal['calls']
  readonly #isSame: SameArguments

  /** A rehearsal compares values: keys may stand in another order. */
  constructor({ calls }: Pick<Journal, 'calls'>, isSame: SameArguments = (recorded, issued) => recorded === issued) {
    this.#calls = calls
    this.#isSame = isSame
  }

  /** Answers with the difference, if there is one. */
  compare(issue: Issue): AppError | null {
    const { call, id } = issue
    const recorded = this.#calls.get(id)
    if (recorded === undefined) {
      if (!this.#isOver(parseCallId(id).program)) this.unrecorded.push(issue)
    } else if (recorded.tool !== call.tool || !this.#isSame(recorded.args, call.args)) return mismatch(recorded, call)
    else if (recorded.last !== 'resolved') this.open.push({ recorded, issue })
    return null
  }

  /**
   * What ended a program may not be there any more when it is replayed: its box died, or its time
   * was up. It issues nothing new.
   */
  #isOver(program: string): boolean {
    return this.#calls.get(program)?.last === 'resolved'
  }

  /**
   * Every recorded call must have been issued again; `issuedBy` tells how many calls a program has
   * issued.
   */
  missing(issuedBy: (program: string) => number): AppError | null {
    for (const recorded of this.#calls.values()) {
      const { program, number } = parseCallId(recorded.id)
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
    ...(call === null ? {} : { differences: differencesOf(recorded.args, call.args) }),
  })
}

function shown({ tool, args }: IssuedCall): { tool: string; args: string } {
  return { tool, args: args.slice(0, limits.previewCharactersMax) }
}

type Difference = { path: string; recorded: string | null; replayed: string | null }

/**
 * The single values that differ, each as JSON, null where there is none; if all are the same, their
 * keys stand in another order.
 */
function differencesOf(recorded: string, replayed: string): Difference[] {
  const [before, after] = [textsOf(recorded), textsOf(replayed)]
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path))
  return paths.slice(0, limits.differencesShownMax).map((path) => {
    const [one = null, other = null] = [before.get(path), after.get(path)]
    const first = differsAt(one ?? '', other ?? '')
    return { path, recorded: around(one, first), replayed: around(other, first) }
  })
}

function differsAt(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at += 1
  return at
}

/** Of a long text, the part in which it begins to differ. */
function around(text: string | null, at: number): string | null {
  if (text === null || text.length <= limits.previewCharactersMax) return text
  const from = Math.max(0, at - limits.previewCharactersMax / 4)
  return `${from === 0 ? '' : '… '}${text.slice(from, from + limits.previewCharactersMax)} …`
}

function textsOf(args: string): Map<string, string> {
  const leaves = leavesOf(JSON.parse(args) as Json, limits.provenanceStepsMax)
  return new Map(leaves.map(({ path, value }) => [path, toText(value)]))
}
