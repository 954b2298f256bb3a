/**
 * The past as it is asked for: past intents and the words of capabilities, which take in each run
 * once, and the past of each subject who asks where there are runs of others.
 */
import type { Knowledge, PastRun } from '#learn/graph'
import { openPastIntents, type PastIntents } from '#learn/intents'
import { LruCache } from '#model'
import { openWordings, toolsDone } from './wordings.ts'

const subjectsMax = 16

/** What was read of runs that are there: begun again where one of them was removed. */
type Read = {
  runs: readonly PastRun[]
  removals: number
  n: number
  count: number
  past: PastIntents
  wordings: ReturnType<typeof openWordings>
  subjects: Set<string | null>
  own: LruCache<string, { n: number; past: PastIntents }>
}

export function openPast() {
  let read = nothingRead(0)
  return {
    /** Takes in the runs that were closed since. */
    follow(known: Knowledge): void {
      if (known.removals !== read.removals) read = nothingRead(known.removals)
      read.runs = known.runs
      for (const run of runsAfter(read.runs, read.n)) {
        read.past.add(asDone(run, known))
        read.wordings.add(run)
        read.subjects.add(run.subject)
        read.n = run.n
        read.count++
      }
    },
    all: () => read.past,
    wordings: () => read.wordings,
    /** How many runs it took in. */
    count: () => read.count,
    /** Runs of others count nowhere in it; the past of all where there are none of others. */
    of(subject: string | null, known: Knowledge): PastIntents {
      const others = read.subjects.size - Number(read.subjects.has(subject))
      if (others === 0) return read.past
      const own = read.own.get(subject ?? '') ?? { n: -1, past: openPastIntents() }
      for (const run of runsAfter(read.runs, own.n)) if (run.subject === subject) own.past.add(asDone(run, known))
      own.n = read.n
      read.own.set(subject ?? '', own)
      return own.past
    },
  }
}

function nothingRead(removals: number): Read {
  const own: Read['own'] = new LruCache(subjectsMax)
  return {
    runs: [],
    removals,
    n: -1,
    count: 0,
    past: openPastIntents(),
    wordings: openWordings(),
    subjects: new Set(),
    own,
  }
}

const asDone = (run: PastRun, known: Knowledge): PastRun => ({ ...run, tools: toolsDone(run.tools, known) })

/** They are in the order of `n`. */
function runsAfter(runs: readonly PastRun[], n: number): readonly PastRun[] {
  return runs.slice(runs.findLastIndex((run) => run.n <= n) + 1)
}
