/**
 * Reads the record forwards, each event once, and hands out the events of the home in their order.
 * The lines of a run are gathered on the way and go out with its `run.closed`; of a run that began
 * before reading did, or is larger than memory is for, they are read along its chain.
 */
import { type Event, homeChain, limits } from '#model'
import type { Arrival, Store } from '#record'

/** `lines`: of the run that it closes, where all of them were gathered. */
export type HomeEvent = { seq: number; hash: string; event: Event; lines?: string[] }

type ReadRecord = Pick<Store, 'eventsSince' | 'parse'>

export type Reading = { after(seq: number): HomeEvent[] }

export function readAhead(record: ReadRecord, charactersMax: number = limits.learnReadCharactersMax): Reading {
  let waiting: HomeEvent[] = []
  let from = -1
  let upTo = -1
  const gathering = openGathering(charactersMax)

  const moveTo = (seq: number) => {
    const at = waiting.findIndex((one) => one.seq === seq)
    // Another process has folded beyond what was read here, or all is made again.
    if (at < 0 && seq !== from) {
      gathering.clear()
      upTo = seq
    }
    waiting = at < 0 && seq !== from ? [] : waiting.slice(at + 1)
    from = seq
  }
  return {
    /** Some of what follows; nothing where all was read. */
    after(seq) {
      moveTo(seq)
      while (waiting.length === 0) {
        const arrived = record.eventsSince(upTo, limits.learnReadEventsMax)
        if (arrived.length === 0) break
        upTo = arrived.at(-1)!.seq
        waiting = arrived.flatMap((one) => (one.run === homeChain ? homeEvent(one) : gathering.add(one)))
      }
      return waiting
    },
  }

  function homeEvent({ seq, hash, line }: Arrival): HomeEvent[] {
    const event = record.parse(line)
    if (event.type !== 'run.closed') return [{ seq, hash, event }]
    const { run, count, head } = event.body
    const lines = gathering.take(run, count, head)
    return [{ seq, hash, event, ...(lines === null ? {} : { lines }) }]
  }
}

type Gathered = { lines: string[]; hash: string }

/** Lines of open runs. Where they are too many all are let go. */
function openGathering(charactersMax: number) {
  const runs = new Map<string, Gathered>()
  let characters = 0
  const clear = () => {
    runs.clear()
    characters = 0
  }
  return {
    clear,
    add({ run, n, hash, line }: Arrival): HomeEvent[] {
      const gathered = n === 1 ? { lines: [], hash } : runs.get(run)
      if (gathered === undefined || gathered.lines.length !== n - 1) return []
      gathered.lines.push(line)
      gathered.hash = hash
      runs.set(run, gathered)
      characters += line.length
      if (characters > charactersMax) clear()
      return []
    },
    /** Null unless they are all that the run has. */
    take(run: string, count: number, head: string): string[] | null {
      const gathered = runs.get(run)
      if (gathered === undefined) return null
      runs.delete(run)
      for (const line of gathered.lines) characters -= line.length
      return gathered.lines.length === count && gathered.hash === head ? gathered.lines : null
    },
  }
}
