/**
 * The lines of policy that humans wrote for good, without those they took back: the home's chain is
 * read once, then only what is new in it.
 */
import { type Config, homeChain, limits, type PermissionSet, type PolicyRule } from '#model'
import type { Store } from '#record'
import { narrower } from './decide.ts'

/**
 * `id` is the number of its event in the home's chain; `permissions` the set that was in force for
 * the call that was asked about.
 */
export type StandingLine = {
  id: number
  rule: PolicyRule
  permissions: PermissionSet
  who: string
  from: string
  at: string
  approval?: string
}

/**
 * Of a line whose event does not name the set: `minimal` and `privileged` never ask, so a question
 * that a rule can answer came from `standard`.
 */
const permissionsUnnamed: PermissionSet = 'standard'

/** A line that a human wrote for one run, or for good with an answer in it. */
export type OwnLine = { rule: PolicyRule; approval: string }

/** The rules of one run, as they are whenever it is asked. */
export type RunPolicy = {
  /** How long a question of the run waits for a human. */
  readonly expireMs: number
  readonly permissions: PermissionSet
  readonly rules: readonly PolicyRule[]
  /** The run was begun for an intent alone: its calls were not asked for. */
  readonly isSpeculated: boolean
  write(line: OwnLine): void
}

/**
 * They stand after the file's rules, and so never beat one of them; nor do they beat a set that is
 * stricter than theirs was.
 */
export function standingRules(store: Store, permissions: PermissionSet): readonly PolicyRule[] {
  return standingLines(store).flatMap((line) => (isInForce(line, permissions) ? [line.rule] : []))
}

/** Whether the set did not become stricter after a line was written. */
export function isInForce(line: Pick<StandingLine, 'permissions'>, permissions: PermissionSet): boolean {
  return narrower(permissions, line.permissions) === line.permissions
}

export function standingLines(store: Store): StandingLine[] {
  return [...openStanding(store)().lines.values()]
}

export type StandingRules = { lines: ReadonlyMap<number, StandingLine>; forgotten: ReadonlySet<string> }

/**
 * Reads only what is new since the last time, and once for all that ask before the microtask queue
 * comes to it: runs that one commit woke judge their calls one after the other, and a query for
 * each made a graph of ten calls cost 6 % more CPU. What follows an awaited write of ours comes
 * later, and so sees it. `forgotten` are the approvals whose rules were taken back.
 */
export function openStanding(store: Store): () => StandingRules {
  const lines = new Map<number, StandingLine>()
  const forgotten = new Set<string>()
  let seen = 0
  let isCurrent = false
  const expire = () => {
    isCurrent = false
  }
  function read(): void {
    for (const event of store.events(homeChain, { after: seen, type: 'policy.changed' })) {
      seen = event.n
      if (event.type !== 'policy.changed') continue
      const { forgets, ...line } = event.body
      if (forgets === undefined)
        lines.set(event.n, { id: event.n, at: event.at, permissions: permissionsUnnamed, ...line })
      for (const id of forgets ?? []) {
        const { approval } = lines.get(id) ?? {}
        if (approval !== undefined) forgotten.add(approval)
        lines.delete(id)
      }
    }
  }
  return () => {
    if (!isCurrent) {
      read()
      isCurrent = true
      queueMicrotask(expire)
    }
    return { lines, forgotten }
  }
}

/**
 * The file's rules, then lines that stand, then the run's own, under the stricter of the set that
 * the run was started with and the file's. A line that was taken back is none of them any more,
 * also where it was written; nor is one that was written under a wider set. The run's own count as
 * written under the set that it was started with. All of it is read whenever it is asked, the
 * file's part too: that may change under a run.
 */
export function runPolicy(
  started: PermissionSet,
  file: Config['policy'],
  standing: () => StandingRules,
  written: readonly OwnLine[],
  { expireMs = limits.approvalMsDefault, isSpeculated = false }: { expireMs?: number; isSpeculated?: boolean } = {},
): RunPolicy {
  const own = [...written]
  return {
    expireMs,
    isSpeculated,
    get permissions() {
      return narrower(started, file.permissions)
    },
    get rules() {
      const { permissions } = this
      const { lines, forgotten } = standing()
      const inForce = [...lines.values()].filter((line) => isInForce(line, permissions))
      const kept = permissions === started ? own.filter(({ approval }) => !forgotten.has(approval)) : []
      return [...file.rules, ...[...inForce, ...kept].map(({ rule }) => rule)]
    },
    write: (line) => void own.push(line),
  }
}
