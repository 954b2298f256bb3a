/**
 * The newest closed runs in the order in which they were closed, kept up to date by what changed:
 * one more run is put behind the others, which are neither made nor sorted again.
 */
import { type Json, limits } from '#model'

/** A closed run. `tools` in the order in which they were issued, with `cap:` ids. */
export type PastRun = {
  run: string
  /** The number of its `run.closed`, which orders runs. */
  n: number
  at: string
  intent: string | null
  subject: string | null
  kind: 'code' | 'dag' | 'agent' | 'capability'
  status: 'done' | 'failed' | 'cancelled'
  teaches: 'capability' | 'rates'
  tools: string[]
  /** Of calls that failed: the code of the last failure, by tool. */
  codes?: Record<string, string>
  shape?: string
  ms: number
}

type Change = { key: string; value: Json | null }

type PastRuns = {
  list(): readonly PastRun[]
  get(run: string): PastRun | undefined
  /** Whether one that was known is not there any more, or another one now. */
  apply(changes: readonly Change[]): boolean
}

export function openPastRuns(runsMax: number = limits.learnRunsMax): PastRuns {
  const byId = new Map<string, PastRun>()
  let list: readonly PastRun[] = []
  const remove = (changes: readonly Change[]) => {
    const known = changes.filter(({ key }) => byId.delete(key))
    if (known.length > 0) list = list.filter(({ run }) => byId.has(run))
    return known.length > 0
  }
  return {
    list: () => list,
    get: (run) => byId.get(run),
    apply(changes) {
      if (changes.length === 0) return false
      const isOneRemoved = remove(changes)
      const added = changes
        .flatMap(({ key, value }) => (value === null ? [] : [{ run: key, ...(value as object) } as PastRun]))
        .sort(byNumber)
      for (const run of added) byId.set(run.run, run)
      const isBehind = added.length === 0 || added[0]!.n > (list.at(-1)?.n ?? -1)
      const all = isBehind ? list.concat(added) : [...list, ...added].sort(byNumber)
      const old = Math.max(0, all.length - runsMax)
      for (const { run } of all.slice(0, old)) byId.delete(run)
      list = old === 0 ? all : all.slice(old)
      return isOneRemoved
    },
  }
}

const byNumber = (left: PastRun, right: PastRun) => left.n - right.n
