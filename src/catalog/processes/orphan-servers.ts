/**
 * What a dead process of ours left running: its guard is ending that, and is itself gone only when
 * nothing of it is left. Where the guard was killed too, the marks of the servers tell whose they
 * were.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError, limits } from '#model'
import { endMarkedBy } from './process-marks.ts'

/** The name under which a guard stands among the processes, so that others can see whose it is. */
export function reaperName(owner: string): string[] {
  return ['metier-guard', owner]
}

/** Throws after a limit: something is still alive that could act, so no run may be taken over. */
export async function endOrphansOf(owner: string, msMax: number = limits.leftoversMsMax): Promise<void> {
  const until = performance.now() + msMax
  while (hasGuard(owner)) {
    if (performance.now() > until) throw stillAlive(owner)
    await pause(limits.upstreamGonePollMs)
  }
  if (!(await endMarkedBy(owner))) throw stillAlive(owner)
}

function stillAlive(owner: string): AppError {
  const message = `Cannot go on for process ${owner}: it is dead, but its servers are not; end them, then resume`
  return new AppError('RUN_OWNED', message, { owner })
}

function hasGuard(owner: string): boolean {
  const name = reaperName(owner).join('\0')
  return readdirSync('/proc').some((entry) => /^\d+$/.test(entry) && commandOf(entry).includes(name))
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return '' // gone while we looked
  }
}
