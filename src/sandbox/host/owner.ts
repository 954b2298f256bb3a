/**
 * Who left this here: a process, known by its namespace, its number and the moment it started, so
 * that a reused number is not taken for it.
 */
import { readFileSync, readlinkSync } from 'node:fs'

const form = /^(\d+)-(\d+)-(\d+)(?:-|$)/

/** The name under which this process leaves things behind. */
export function ownerName(): string {
  return `${namespace()}-${process.pid}-${startOf(process.pid)}`
}

/**
 * Whether this name is one of a process of our namespace that is no more; of others nothing can be
 * said.
 */
export function isOrphan(name: string): boolean {
  const [, home, pid, start] = form.exec(name) ?? []
  if (home === undefined || home !== namespace()) return false
  return startOf(Number(pid)) !== start
}

function namespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))![0]
}

/**
 * The kernel's clock at the start of a process; null of one that is not there, or that only waits
 * to be buried.
 */
function startOf(pid: number): string | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return fields[0] === 'Z' ? null : fields[19]!
  } catch {
    return null
  }
}
