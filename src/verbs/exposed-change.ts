/** Tells when a changed configuration puts other tools on the surface than the one before. */
import { isDeepStrictEqual } from 'node:util'
import { type Config, splitToolId } from '#model'
import type { Generations } from './generations.ts'

export type ExposedChange = { onExposedChange(listener: () => void): () => void }

/** The same generations, a change of which is also told to those who listen. */
export function withExposedChange(generations: Generations): Generations & ExposedChange {
  const listeners = new Set<() => void>()
  return {
    ...generations,
    change(next) {
      const before = generations.config()
      generations.change(next)
      if (isDeepStrictEqual(exposedIn(before), exposedIn(next))) return
      for (const listener of listeners) listener()
    },
    onExposedChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** A server of the same name that is another one now has other tools. */
function exposedIn({ expose, servers }: Config) {
  return expose.map((id) => ({ id, server: servers[splitToolId(id)?.server ?? ''] }))
}
