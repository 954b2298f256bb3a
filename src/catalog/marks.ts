/**
 * A number that a server and all that it ever starts carry, wherever they move: the limit of file locks, which every process hands on to
 * its children, which nobody can raise, and which Linux has not held anybody to for twenty years.
 */
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '#model'
import { isAlive, killAll, processes } from './descendants.ts'

/** So many marks lie between two first ones: one for each number that a process can have. */
const blockBits = 22
const blocksMax = 2 ** 30

/** Where the marks of one process of ours begin: where there is room, below our own limit, which we may have from another one of us. */
export function firstMark(): number {
  const own = /^Max file locks\s+(\d+)/m.exec(limitsOf('self'))?.[1]
  const blocks = own === undefined ? blocksMax : Math.min(Math.floor(Number(own) / 2 ** blockBits), blocksMax)
  return randomInt(1, blocks < 2 ? blocksMax : blocks) * 2 ** blockBits
}

/** Ends all that carry the mark; what they start meanwhile is found in the next round. */
export async function endMarked(mark: number): Promise<void> {
  const line = new RegExp(`^Max file locks\\s+${mark}\\s`, 'm')
  for (let round = 0; round < limits.markedRoundsMax; round++) {
    const left = processes((pid) => line.test(limitsOf(pid))).filter(isAlive)
    if (left.length === 0) return
    killAll(left)
    await pause(limits.upstreamGonePollMs, null, { ref: false })
  }
}

function limitsOf(pid: number | 'self'): string {
  try {
    return readFileSync(`/proc/${pid}/limits`, 'latin1')
  } catch {
    return '' // gone while we looked, or there is no such thing here
  }
}
