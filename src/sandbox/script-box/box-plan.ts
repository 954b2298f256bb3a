/** What a box is made of, with any driver: plain data that a driver turns into a command. */
import { limits } from '#model'
import type { ScriptTier } from '#sandbox/host'
import type { Bounds } from './cgroup.ts'
import type { View } from './filesystem-view.ts'
import type { OutputOrder } from './outputs.ts'

export type BoxPlan = {
  id: string
  /** Counts the boxes of this process. */
  serial: number
  /**
   * Its own folder on the host, gone with the box. `inputs` in it is filled when the script is
   * known.
   */
  folder: string
  view: View
  /** What the first process runs, a text for the shell. */
  launcher: string
  environment: Record<string, string>
  /** A folder with the socket of our proxy; null: no way out. */
  outbound: string | null
  /** Files that it hands out at its end; null: it has no `/outputs`. */
  outputs: OutputOrder | null
  /** Where the script starts. */
  cwd: string
  bounds: Bounds & { diskBytes: number }
}

export const scriptBounds = {
  memoryBytes: limits.scriptMemoryBytesMax,
  tasks: limits.scriptTasksMax,
  cpus: limits.scriptCpusMax,
  diskBytes: limits.scriptDiskBytesMax,
}

/** The first process of a box. What it hands out are its arguments, in which nothing is quoted. */
export function firstProcess({ launcher, outputs }: BoxPlan): string[] {
  return ['/bin/sh', '-c', launcher, 'box', ...(outputs?.paths ?? [])]
}

/** A way to close a box: bubblewrap or gVisor. */
export type Driver = {
  tier: ScriptTier
  /** The binary whose digest says whether the self-test still holds. */
  binary: string
  /** The whole command that opens the box; a driver may write into the plan's folder. */
  command(plan: BoxPlan): Promise<string[]>
  /** Bounds of the control group: a driver may need more for itself. */
  groupBounds(plan: BoxPlan): Bounds
  /** Whether the first process must limit the number of tasks itself. */
  limitsTasks: boolean
  /** For the shell that starts the command: limits of the process. */
  processLimits(plan: BoxPlan): string
  /** A file with the filter of system calls, given as descriptor 4. */
  seccomp: string | null
  /** Whether a part of the box could be left where it is killed while it starts. */
  startsWithUs: boolean
  /** Takes away what the command left outside of the plan's folder. */
  leave(plan: BoxPlan): Promise<void>
  /** What the report says of it: from the inside out, and what is weaker than it should be. */
  layers: string[]
  degraded: string[]
}
