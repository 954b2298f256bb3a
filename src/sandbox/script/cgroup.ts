/** Limits that hold for a whole box together: control groups of the kernel, version 1 or 2, where we may make them. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '#model'
import { isOrphan, ownerName } from './owner.ts'

export type Resource = 'memory' | 'pids' | 'cpu'
export type Bounds = { memoryBytes: number; tasks: number; cpus: number }
/** The folders below which groups can be made, by resource; with version 2 they are the same folder. */
export type Places = { version: 1 | 2; folders: Partial<Record<Resource, string>> }

export type Group = {
  /** Files into which a process writes its number to be a member. */
  joins: string[]
  oomKills(): number
  kill(): void
  /** Ends what is left in it and takes it away. */
  remove(): Promise<void>
}

const resources: Resource[] = ['memory', 'pids', 'cpu']
const prefix = 'metier-box-'
let made = 0

/** What each limit is called. A question mark: some kernels do not have it, and the box holds without. */
function settings(version: 1 | 2, resource: Resource, { memoryBytes, tasks, cpus }: Bounds): [string, string][] {
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

/** Tries for each resource whether a group can be made and limited; a folder is only named if it worked. */
export function findPlaces(): Places {
  const places: Places = { version: 1, folders: {} }
  const bounds = { memoryBytes: limits.scriptMemoryBytesMax, tasks: limits.scriptTasksMax, cpus: limits.scriptCpusMax }
  for (const resource of resources) {
    for (const { version, folder } of candidates(resource)) {
      const place: Places = { version, folders: { [resource]: folder } }
      if (!canMake(place, bounds)) continue
      places.version = version
      places.folders[resource] = folder
      break
    }
  }
  return places
}

function canMake(places: Places, bounds: Bounds): boolean {
  try {
    const group = makeGroup(places, bounds)
    void group.remove()
    return true
  } catch {
    return false
  }
}

type Candidate = { version: 1 | 2; folder: string }

/** Below our own group, so that limits set around us hold for the box too. */
function candidates(resource: Resource): Candidate[] {
  const mounts = lines('/proc/self/mountinfo').map((line) => line.split(' '))
  return lines('/proc/self/cgroup').flatMap((line): Candidate[] => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
    if (path === undefined) return []
    const version = controllers === '' ? 2 : 1
    if (version === 1 && !controllers!.split(',').includes(resource)) return []
    const mount = mounts.find((fields) => isHierarchy(fields, version, resource))
    if (mount === undefined) return []
    const own = join(mount[4]!, path.startsWith(mount[3]!) ? path.slice(mount[3]!.length) : '')
    // A group of version 2 that has members cannot limit children: then a sister will do.
    if (version === 2) return [own, dirname(own)].filter(offers(resource)).map((folder) => ({ version, folder }))
    return [{ version, folder: own }]
  })
}

function isHierarchy(fields: string[], version: 1 | 2, resource: Resource): boolean {
  const [kind, , options] = fields.slice(fields.indexOf('-') + 1)
  return version === 2 ? kind === 'cgroup2' : kind === 'cgroup' && options!.split(',').includes(resource)
}

function offers(resource: Resource): (folder: string) => boolean {
  return (folder) => {
    const file = join(folder, 'cgroup.subtree_control')
    try {
      if (!readFileSync(file, 'utf8').split(/\s+/).includes(resource)) writeFileSync(file, `+${resource}`)
      return true
    } catch {
      return false
    }
  }
}

/** Throws where the kernel refuses: a box must not run with less than was promised. */
export function makeGroup({ version, folders }: Places, bounds: Bounds): Group {
  made += 1
  const name = `${prefix}${ownerName()}-${made}`
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
    remove: () => removeAll(groups),
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

/** Groups whose process died without taking them away: their members are killed, whatever they are. */
export async function reapGroups({ folders }: Places): Promise<void> {
  const parents = [...new Set(Object.values(folders))]
  const left = parents.flatMap((parent) =>
    readdirSync(parent)
      .filter((name) => name.startsWith(prefix) && isOrphan(name.slice(prefix.length)))
      .map((name) => join(parent, name)),
  )
  await removeAll(left)
}

async function removeAll(groups: string[]): Promise<void> {
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

function lines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}
