/** Finds out where control groups can be made, and clears away those of dead processes. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { limits } from '#model'
import { isOrphan } from '#sandbox/host'
import { type Bounds, groupPrefix, lines, makeGroup, type Places, type Resource, removeGroups } from './cgroup.ts'

const resources: Resource[] = ['memory', 'pids', 'cpu']

/**
 * Tries for each resource whether a group can be made and limited; a folder is only named if it
 * worked.
 */
export function findPlaces(): Places {
  const places: Places = { version: 1, folders: {} }
  const bounds = { memoryBytes: limits.scriptMemoryBytesMax, tasks: limits.scriptTasksMax, cpus: limits.scriptCpusMax }
  for (const resource of resources) {
    for (const { version, folder } of candidates(resource)) {
      if (!fits(places, version, folder) || !canMake({ version, folders: { [resource]: folder } }, bounds)) continue
      places.version = version
      places.folders[resource] = folder
      break
    }
  }
  return places
}

/** A process is in one group of version 2, and in one of version 1 for each resource. */
function fits({ version, folders }: Places, otherVersion: 1 | 2, otherFolder: string): boolean {
  const [known] = Object.values(folders)
  if (known === undefined) return true
  return version === otherVersion && (version === 1 || known === otherFolder)
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

/**
 * Groups whose process died without taking them away: their members are killed, whatever they are.
 */
export async function reapGroups({ folders }: Places): Promise<void> {
  const parents = [...new Set(Object.values(folders))]
  const left = parents.flatMap((parent) =>
    readdirSync(parent)
      .filter((name) => name.startsWith(groupPrefix) && isOrphan(name.slice(groupPrefix.length)))
      .map((name) => join(parent, name)),
  )
  await removeGroups(left)
}
