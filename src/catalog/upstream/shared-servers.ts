/**
 * What the catalogues of one process have in common, when a changed configuration puts a new one
 * beside the old: the guard, the pins, and every server whose definition is the same in both. A
 * server is ended when the last catalogue that has it is closed.
 */
import { isDeepStrictEqual } from 'node:util'
import { effectOf, type PinRecord, Pins } from '#catalog/definitions'
import { openServerReaper } from '#catalog/processes'
import type { ServerConfig } from '#model'
import { clientsOf, type Entry, openEntry, type ServersOptions } from './server-entry.ts'

export type SharedServers = {
  pins: Pins
  /** The servers of one catalogue; `moved` is called when there is other to find at one of them. */
  enter(options: ServersOptions, moved: () => void): Map<string, Entry>
  leave(entries: ReadonlyMap<string, Entry>, moved: () => void): Promise<void>
}

type Used = { entry: Entry; config: ServerConfig; users: number }

export function openSharedServers({ process, pins: record = nowhere, secrets = [] }: ServersOptions): SharedServers {
  const guard = openServerReaper(process)
  const used = new Set<Used>()
  const listeners = new Set<() => void>()
  /**
   * The newest definition of each name: a class of effects that was taken out of the file counts no
   * longer.
   */
  const configs = new Map<string, ServerConfig>()
  const known = new Set(secrets)
  const pins = new Pins({
    record,
    get secrets() {
      return [...known]
    },
    effectOf: ({ server, name }, annotations) => effectOf(configs.get(server)!, name, annotations).effect,
  })
  const moved = () => {
    for (const listener of listeners) listener()
  }

  const take = (name: string, options: ServersOptions): Entry => {
    const config = options.servers[name]!
    const same = [...used].find((one) => one.entry.name === name && isDeepStrictEqual(one.config, config))
    configs.set(name, config)
    if (same !== undefined) {
      same.users++
      return same.entry
    }
    const entry = openEntry(name, options, { guard, pins, moved })
    used.add({ entry, config, users: 1 })
    return entry
  }

  return {
    pins,
    enter(options, listener) {
      for (const secret of options.secrets ?? []) known.add(secret)
      listeners.add(listener)
      return new Map(Object.keys(options.servers).map((name) => [name, take(name, options)]))
    },
    async leave(entries, listener) {
      listeners.delete(listener)
      const mine = new Set(entries.values())
      const over = [...used].filter((one) => mine.has(one.entry) && --one.users === 0)
      for (const one of over) used.delete(one)
      for (const { entry } of over) entry.shapes.close()
      await Promise.all(over.flatMap(({ entry }) => clientsOf(entry)).map((line) => line.close()))
      if (listeners.size === 0) guard.close()
    },
  }
}

const nowhere: PinRecord = {
  read: () => [],
  readOf: () => [],
  anchor: () => null,
  holds: () => true,
  append: async () => {},
}
