/**
 * Limits that hold for a whole box together: control groups of the kernel, version 1 or 2, where we
 * may make them.
 */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '#model'
import { ownerName } from '#sandbox/host'

export type Resource = 'memory' | 'pids' | 'cpu'
export type Bounds = { memoryBytes: number; tasks: number; cpus: number }
/**
 * The folders below which groups can be made, by resource; with version 2 they are one and the
 * same.
 */
export type Places = { version: 1 | 2; folders: Partial<Record<Resource, string>> }

export type Group = {
  /** Files into which a process writes its number to be a member. */
  joins: string[]
  oomKills(): number
  kill(): void
  /** Ends what is left in it and takes it away. */
  remove(): Promise<void>
}

export const groupPrefix = 'metier-box-'
let made = 0

/**
 * What each limit is called. A question mark: some kernels do not have it, and the box holds
 * without.
 */
export function settings(version: 1 | 2, resource: Resource, { memoryBytes, tasks, cpus }: Bounds): [string, string][] {
  const period = 100_000
  if (resource === 'pids') return [['pids.max', String(tasks)]]
  if (version === 1) {
    if (resource === 'cpu')
      return [
        ['cpu.cfs_period_us', String(period)],
        ['cpu.cfs_quota_us', String(cpus * period)],
      ]
    return [
      ['memory.limit_in_bytes', String(memoryBytes)],
      ['memory.memsw.limit_in_bytes?', String(memoryBytes)],
    ]
  }
  if (resource === 'cpu') return [['cpu.max', `${cpus * period} ${period}`]]
  return [
    ['memory.max', String(memoryBytes)],
    ['memory.swap.max?', '0'],
    ['memory.oom.group?', '1'],
  ]
}

/** Throws where the kernel refuses: a box must not run with less than was promised. */
export function makeGroup({ version, folders }: Places, bounds: Bounds): Group {
  made += 1
  const name = `${groupPrefix}${ownerName()}-${made}`
  const groups = [...new Set(Object.values(folders))].map((folder) => join(folder, name))
  try {
    for (const group of groups) mkdirSync(group)
    for (const [resource, folder] of Object.entries(folders)) {
      for (const [file, value] of settings(version, resource as Resource, bounds)) set(join(folder, name), file, value)
    }
  } catch (thrown) {
    for (const group of groups) tryRemove(group)
    throw thrown
  }
  const memory = folders.memory ? join(folders.memory, name) : null
  return {
    joins: groups.map((group) => join(group, 'cgroup.procs')),
    oomKills: () => (memory ? oomKillsOf(join(memory, version === 1 ? 'memory.oom_control' : 'memory.events')) : 0),
    kill: () => groups.forEach(killMembers),
    remove: () => removeGroups(groups),
  }
}

function set(group: string, file: string, value: string): void {
  try {
    writeFileSync(join(group, file.replace('?', '')), value, { flag: 'r+' })
  } catch (thrown) {
    if (!file.endsWith('?')) throw thrown
  }
}

function oomKillsOf(file: string): number {
  return Number(/^oom_kill (\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 0)
}

export async function removeGroups(groups: string[]): Promise<void> {
  const until = performance.now() + limits.scriptBoxEndMsMax
  for (let left = groups; ; ) {
    left.forEach(killMembers)
    left = left.filter((group) => !tryRemove(group))
    if (left.length === 0 || performance.now() > until) return
    await pause(2)
  }
}

function killMembers(group: string): void {
  for (const pid of lines(join(group, 'cgroup.procs')).map(Number)) {
    try {
      if (pid > 0) process.kill(pid, 'SIGKILL')
    } catch {
      // it ended by itself
    }
  }
}

function tryRemove(group: string): boolean {
  try {
    rmdirSync(group)
    return true
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

export function lines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}
