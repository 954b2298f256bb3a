/**
 * Sees to it that of a box that is ended while it starts nothing is left. Bubblewrap's inner
 * process waits, without end, for a word of the outer one; where that is killed before, by us or
 * because we are gone, that word never comes. Until then both are in one group.
 */
import type { ChildProcess } from 'node:child_process'

/**
 * For the shell that becomes the box, and leads a group of its own: a small process beside it reads
 * this descriptor, whose other end we hold. A line says that the box is ready; an end without one,
 * that we are gone, and the group is killed. It holds no other descriptor of the box.
 */
export function killGroupScript(descriptor: number): string {
  const others = Array.from({ length: descriptor - 2 }, (_, i) => `${i + 3}>&-`).join(' ')
  return `(read -r ready || kill -s KILL -- "-$$") <&${descriptor} >/dev/null 2>&1 ${others} &`
}

/** While its first process lives: afterwards the number of the group may be another's. */
export function killGroup(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) killRest(child)
}

/** In the moment in which its first process has ended: what that left is still in the group. */
export function killRest({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // the group is empty
  }
}
