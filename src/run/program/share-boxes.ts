/**
 * Few boxes, many programs: a program has a box while it moves. One that waits may lose its box to
 * another that has something to do, and when its own result comes it is played again from the
 * record, as after a crash.
 */
import { limits, type Program } from '#model'
import { type ProgramSource, type Sharer, sharedProgram } from './shared-program.ts'

type BoxShare = { program(source: ProgramSource): Program }

/** `keptMax` bounds how much of what was delivered to a program is kept, in characters. */
type ShareOptions = { most: number; idleMs: number; keptMax?: number }

/**
 * At most so many have a box; who waits for one takes it from who has waited for at least `idleMs`
 * itself, and for as long as it would take to play it again: so what is lost to playing again is
 * never more than what was lost to waiting.
 */
export function openBoxShare({ most, idleMs, keptMax = limits.programKeptCharactersMax }: ShareOptions): BoxShare {
  const awake = new Set<Sharer>()
  const queue: (() => void)[] = []
  let taken = 0
  let timer: NodeJS.Timeout | undefined

  function take(): Promise<void> {
    if (taken < most) {
      taken += 1
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      queue.push(resolve)
      look()
    })
  }

  function give(): void {
    const next = queue.shift()
    if (next === undefined) taken -= 1
    else next()
  }

  /** Those that began to wait first stand first. */
  function look(): void {
    clearTimeout(timer)
    const now = performance.now()
    let soonest = Number.POSITIVE_INFINITY
    for (const one of [...awake]) {
      if (queue.length === 0) return
      if (one.idleSince === null) continue
      const rest = one.idleSince + Math.max(idleMs, one.playedMs) - now
      soonest = Math.min(soonest, rest)
      if (rest > 0) continue
      awake.delete(one)
      one.sleep()
      give()
    }
    if (queue.length > 0 && soonest < Number.POSITIVE_INFINITY) timer = setTimeout(look, Math.max(0, soonest) + 1)
  }

  const rested = (one: Sharer) => {
    one.idleSince = performance.now()
    awake.delete(one)
    awake.add(one)
    if (queue.length > 0) look()
  }
  const left = (one: Sharer) => {
    if (awake.delete(one)) give()
  }
  const places = { take, give, rested, left, woke: (one: Sharer) => void awake.add(one), keptMax }
  return { program: (source) => sharedProgram(source, places) }
}
