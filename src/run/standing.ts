/** The lines of policy that humans wrote for good, without those they took back: the home's chain is read once, then only what is new in it. */
import { homeChain, type PermissionSet, type PolicyRule } from '#model'
import type { Store } from '#record'

/** `id` is the number of its event in the home's chain. */
export type StandingLine = { id: number; rule: PolicyRule; who: string; from: string; at: string; approval?: string }

/** A line that a human wrote for one run, or for good with an answer in it. */
export type OwnLine = { rule: PolicyRule; approval: string }

/** The rules of one run, as they are whenever it is asked. */
export type RunPolicy = {
  permissions: PermissionSet
  readonly rules: readonly PolicyRule[]
  write(line: OwnLine): void
}

/** They stand after the file's rules, and so never beat one of them. */
export function standingRules(store: Store): readonly PolicyRule[] {
  return standingLines(store).map(({ rule }) => rule)
}

export function standingLines(store: Store): StandingLine[] {
  return [...openStanding(store)().lines.values()]
}

type Standing = { lines: ReadonlyMap<number, StandingLine>; forgotten: ReadonlySet<string> }

/** For whoever asks again and again; `forgotten` are the approvals whose lines were taken back. */
export function openStanding(store: Store): () => Standing {
  const lines = new Map<number, StandingLine>()
  const forgotten = new Set<string>()
  let seen = 0
  return () => {
    for (const event of store.events(homeChain, { after: seen, type: 'policy.changed' })) {
      seen = event.n
      if (event.type !== 'policy.changed') continue
      const { forgets, ...line } = event.body
      if (forgets === undefined) lines.set(event.n, { id: event.n, at: event.at, ...line })
      for (const id of forgets ?? []) {
        const { approval } = lines.get(id) ?? {}
        if (approval !== undefined) forgotten.add(approval)
        lines.delete(id)
      }
    }
    return { lines, forgotten }
  }
}

/** The file's, then those that stand, then the run's own. A line that was taken back is none of them any more, also where it was written. */
export function runPolicy(
  permissions: PermissionSet,
  file: readonly PolicyRule[],
  standing: () => Standing,
  written: readonly OwnLine[],
): RunPolicy {
  const own = [...written]
  return {
    permissions,
    get rules() {
      const { lines, forgotten } = standing()
      const kept = own.filter(({ approval }) => !forgotten.has(approval))
      return [...file, ...[...lines.values(), ...kept].map(({ rule }) => rule)]
    },
    write: (line) => void own.push(line),
  }
}
