/**
 * A number that a server and all that it ever starts carry, wherever they move: the limit of file
 * locks (RLIMIT_LOCKS), which is inherited, cannot be raised, and has not been enforced by Linux
 * for twenty years.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { limits, sha256 } from '#model'
import { isAlive, killAll, processes } from './descendants.ts'

/** So many marks lie between two first ones: one for each number that a process can have. */
const blockBits = 22
const blocksMax = 2 ** 30

/**
 * Where the marks of one process of ours begin, computed alike in every process: where there is
 * room, below our own limit, which we may have from another one of us.
 */
export function firstMark(owner: string): number {
  const own = markOf('self')
  const blocks = own === null ? blocksMax : Math.min(Math.floor(own / 2 ** blockBits), blocksMax)
  const chance = Number.parseInt(sha256(owner).slice(0, 12), 16)
  return (1 + (chance % ((blocks < 2 ? blocksMax : blocks) - 1))) * 2 ** blockBits
}

/**
 * Ends all that carry the mark; what they start meanwhile is found in the next round. False where
 * some of them live on.
 */
export function endMarked(mark: number): Promise<boolean> {
  return endAll((other) => other === mark)
}

/**
 * The same for all that a process of ours, long dead, had started: never for ourselves, who may
 * stand below it.
 */
export function endMarkedBy(owner: string): Promise<boolean> {
  const [first, own] = [firstMark(owner), markOf('self')]
  return endAll((mark) => mark >= first && mark < first + 2 ** blockBits && mark !== own)
}

async function endAll(isMeant: (mark: number) => boolean): Promise<boolean> {
  const carries = (pid: number) => isMeant(markOf(pid) ?? -1)
  for (let round = 0; round < limits.markedRoundsMax; round++) {
    const left = processes(carries).filter(isAlive)
    if (left.length === 0) return true
    killAll(left)
    await pause(limits.upstreamGonePollMs)
  }
  return false
}

/** Null where there is no limit. */
function markOf(pid: number | 'self'): number | null {
  const mark = /^Max file locks\s+(\d+)/m.exec(limitsOf(pid))?.[1]
  return mark === undefined ? null : Number(mark)
}

function limitsOf(pid: number | 'self'): string {
  try {
    return readFileSync(`/proc/${pid}/limits`, 'latin1')
  } catch {
    return '' // gone while we looked, or there is no such thing here
  }
}
