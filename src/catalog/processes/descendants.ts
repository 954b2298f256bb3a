/** The processes below a process, as the system tells them; none where it has no /proc. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** With the time of its start, since a number may be given to another process later. */
export type Process = { pid: number; parent: number; state: string; started: string }

/** Of those whose number is accepted. */
export function processes(accepts: (pid: number) => boolean = () => true): Process[] {
  if (!existsSync('/proc/self/stat')) return []
  const numbers = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return numbers
    .filter(accepts)
    .map(processOf)
    .filter((process) => process !== null)
}

export function descendantsOf(pid: number): Process[] {
  const all = processes()
  const found = new Map<number, Process>()
  for (let size = -1; size < found.size; ) {
    size = found.size
    for (const process of all) if (process.parent === pid || found.has(process.parent)) found.set(process.pid, process)
  }
  return [...found.values()]
}

/** Ends those that still live, wherever they moved. */
export function killAll(processes: readonly Process[]): void {
  for (const { pid, started } of processes) {
    if (!isAlive({ pid, started })) continue
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended by itself meanwhile.
    }
  }
}

/** Not yet ended; one that only waits for its parent to look has. */
export function isAlive({ pid, started }: { pid: number; started: string }): boolean {
  const process = processOf(pid)
  return process !== null && process.started === started && process.state !== 'Z'
}

export function processOf(pid: number): Process | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name, in parentheses, may hold anything; the fields after it are counted from the state,
    // the third.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { pid, state: fields[0]!, parent: Number(fields[1]), started: fields[19]! }
  } catch {
    return null
  }
}
