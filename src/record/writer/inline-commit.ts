/**
 * Commits on the thread that asks, where no other request waits: no thread is woken, and the disk
 * alone takes time.
 */
import { limits } from '#model'
import { isBusy } from '#record/disk'
import type { Ack, OwnedHeads, Request, WriteRequest } from '#record/ledger'
import { closeLedger, commit, type Ledger, openLedger } from '#record/ledger'
import type { WriterData } from './writer-protocol.ts'

type InlineCommitter = {
  /**
   * Whether these may be committed here: one ask alone, a small one, while no other run moves and
   * the disk is quick.
   */
  fits(requests: Request[]): boolean
  /** Null where another process is writing: this thread must not wait for its lock. */
  commit(requests: Request[]): Ack[] | null
  releaseHeads(): OwnedHeads
  acquireHeads(owned: OwnedHeads): void
  /** `tidily` where no later close will checkpoint the log. */
  close(tidily: boolean): void
}

export function openInlineCommitter({ home, process }: WriterData): InlineCommitter {
  let ledger: Ledger | undefined
  /** The run that was written last and goes on. */
  let last: { run: string; at: number } | null = null
  /** So many commits in a row took long. */
  let slow = 0
  let slowUntil = 0

  function opened(): Ledger {
    ledger ??= openLedger(home, process, false)
    return ledger
  }

  /** Whether another run wrote just now; remembers this one. */
  function isCrowded(ask: WriteRequest): boolean {
    if (ask.kind !== 'chain') return false
    const now = performance.now()
    const isOther = last !== null && last.run !== ask.run && now - last.at < limits.crowdedMs
    last = ask.release === null ? { run: ask.run, at: now } : null
    return isOther
  }

  return {
    fits(requests) {
      const crowd = requests.filter(({ ask }) => isCrowded(ask))
      const isLone = requests.length === 1 && crowd.length === 0
      return isLone && isSmall(requests[0]!.ask) && performance.now() > slowUntil
    },
    commit(requests) {
      const ledger = opened()
      const began = performance.now()
      try {
        return commit(ledger, requests)
      } catch (error) {
        if (isBusy(error)) return null
        throw error
      } finally {
        const now = performance.now()
        slow = now - began > limits.commitHereMsMax ? slow + 1 : 0
        if (slow >= limits.commitsSlowMax) slowUntil = now + limits.commitElsewhereMs
      }
    },
    releaseHeads() {
      const owned: OwnedHeads = ledger?.owned ?? new Map()
      if (ledger) ledger.owned = new Map()
      return owned
    },
    acquireHeads(owned) {
      opened().owned = owned
    },
    close(tidily) {
      if (tidily && ledger) closeLedger(ledger)
      else ledger?.database.close()
    },
  }
}

function isSmall(ask: WriteRequest): boolean {
  if (ask.kind !== 'chain' && ask.kind !== 'home') return ask.kind === 'send' || ask.kind === 'take'
  const { bodies, blobs } = ask.entries
  const characters = bodies.reduce((sum, { length }) => sum + length, 0)
  return (
    blobs.length === 0 && bodies.length <= limits.commitHereEventsMax && characters <= limits.commitHereCharactersMax
  )
}
