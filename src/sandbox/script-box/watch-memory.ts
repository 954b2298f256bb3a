/** Measures the memory of a box from outside, where no control group bounds it. */
import { readdirSync, readFileSync } from 'node:fs'
import { limits } from '#model'

/**
 * Calls `onExcess` once when the processes below `pid` together hold more than `bytesMax`; returns
 * how to stop.
 */
export function watchMemory(pid: number, bytesMax: number, onExcess: () => void): () => void {
  const timer = setInterval(() => {
    const bytes = family(pid).reduce((sum, one) => sum + bytesOf(one), 0)
    if (bytes <= bytesMax) return
    clearInterval(timer)
    onExcess()
  }, limits.scriptWatchMs)
  return () => clearInterval(timer)
}

/**
 * A process and all that came from it; what lost its parent hangs on the first process of the box,
 * so it is found too.
 */
function family(pid: number): number[] {
  const all = [pid]
  for (let at = 0; at < all.length; at++) all.push(...childrenOf(all[at]!))
  return all
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    )
  } catch {
    return [] // it ended while we looked
  }
}

/**
 * What it holds beyond pages of files, which the kernel can drop, with shared pages divided among
 * those who share them; else all.
 */
function bytesOf(pid: number): number {
  try {
    const counts = [...readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Pss_(?:Anon|Shmem):\s+(\d+)/gm)]
    if (counts.length === 0) return residentBytes(pid)
    return 1024 * counts.reduce((sum, [, kilobytes]) => sum + Number(kilobytes), 0)
  } catch {
    return residentBytes(pid)
  }
}

function residentBytes(pid: number): number {
  try {
    return 4096 * Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
  } catch {
    return 0
  }
}
