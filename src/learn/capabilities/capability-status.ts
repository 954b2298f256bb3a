/**
 * What became of each capability, as the home's chain tells it. Only events move it:
 *
 *   learned ─► candidate ──verified──► verified ──changed──► demoted
 *                  ▲                     │   ▲
 *                  └──────changed────────┤   └──verified── stale
 *                                        └──tool changed────▲
 *                       or a capability that it calls is lost
 *
 * `disabled` is a human's word and keeps what it was before; `enabled` gives that back, and nothing
 * but a changed tool takes it away again. `forgotten` is for good.
 */
import { type CapabilitySource, capabilityId, type Effect, type Event, type EventBodies, type JsonObject } from '#model'
import type { LiftedText } from './anti-unify.ts'

type CapabilityStatus = 'candidate' | 'verified' | 'stale' | 'demoted' | 'disabled' | 'forgotten'

export type Capability = {
  name: string
  version: number
  intent: string
  subject: string | null
  source: CapabilitySource
  digest: string
  shape: string
  parametersSchema: JsonObject
  tools: Record<string, string>
  effect: Effect | null
  servers: string[]
  runs: string[]
  lifted?: Record<string, number[]>
  texts?: LiftedText[]
  imported?: true
  learnedAt: string
  status: CapabilityStatus
  /** Why it has its status; null of one that nothing happened to. */
  reason: string | null
  /** What it was before a human disabled it. */
  before?: CapabilityStatus
  /** A human said that it is to be offered: it is not demoted by what happens. */
  isKept?: true
  verifiedBy: { how: ('rehearsed' | 'executed')[]; runs: string[]; at: string } | null
}

/** The events that it is made of, in the order of the chain. */
export const capabilityEvents = [
  'capability.learned',
  'capability.verified',
  'capability.changed',
  'tool.changed',
  'tool.accepted',
  'run.purged',
] as const

type CapabilityEvent = Event<(typeof capabilityEvents)[number]>

/** By `name@version`. */
export type CapabilityTable = Map<string, Capability>

const capabilityKey = (name: string, version: number) => `${name}@${version}`

/** Changes the table in place and answers with the keys of what it changed. */
export function applyToCapabilities(table: CapabilityTable, event: Event): string[] {
  if (!isOurs(event)) return []
  const keys = new Set<string>()
  for (let changed = changesOf(table, event); changed.length > 0; changed = containersOf(table, changed)) {
    for (const one of changed) {
      const key = capabilityKey(one.name, one.version)
      table.set(key, one)
      keys.add(key)
    }
  }
  return [...keys]
}

/** What calls one that can be called no more is as stale as if a tool of its own had changed. */
function containersOf(table: CapabilityTable, changed: readonly Capability[]): Capability[] {
  const lost = changed.filter((one) => !isUsable(one))
  return lost.flatMap((one) => {
    const containers = [...table.values()].filter(({ tools }) => tools[idOf(one)] !== undefined)
    return containers.flatMap((container) => stale(container, `${idOf(one)}, which it calls, is ${one.status}`))
  })
}

/** Can be called by its own number: verified, or replaced by a better one. */
export function isUsable({ status, reason }: Pick<Capability, 'status' | 'reason'>): boolean {
  return status === 'verified' || (status === 'demoted' && reason?.startsWith(supersededBy) === true)
}

export const supersededBy = 'superseded by '
/** Why one stays stale that was held against its runs once more. */
export const checkedAgain = 'verified again: '

function isOurs(event: Event): event is CapabilityEvent {
  return (capabilityEvents as readonly string[]).includes(event.type)
}

function changesOf(table: CapabilityTable, event: CapabilityEvent): Capability[] {
  switch (event.type) {
    case 'capability.learned':
      return table.has(capabilityKey(event.body.capability, event.body.version)) ? [] : [learned(event)]
    case 'capability.verified': {
      const known = table.get(capabilityKey(event.body.capability, event.body.version))
      return known === undefined || known.digest !== event.body.digest ? [] : [verified(known, event)]
    }
    case 'capability.changed': {
      const { capability, version } = event.body
      const meant = [...table.values()].filter(
        (one) => one.name === capability && one.version === (version ?? one.version),
      )
      return meant.filter(({ status }) => status !== 'forgotten').map((one) => decided(one, event.body))
    }
    case 'tool.changed':
    case 'tool.accepted': {
      const { tool, digest } = event.body
      const isPinned = ({ tools }: Capability) => tools[tool] !== undefined && tools[tool] !== digest
      return [...table.values()].filter(isPinned).flatMap((one) => stale(one, `the tool ${tool} changed`))
    }
    case 'run.purged':
      // Retention keeps what was learned; `purge` is the word of a human.
      return event.body.from === 'engine' ? [] : [...table.values()].flatMap((one) => without(one, event.body.run))
  }
}

function learned({ at, body }: Event<'capability.learned'>): Capability {
  const { capability: name, ...rest } = body
  return { name, ...rest, learnedAt: at, status: 'candidate', reason: null, verifiedBy: null }
}

/**
 * What a human disabled stays so; what was demoted had failed in use, which no rehearsal undoes.
 */
function verified(before: Capability, { at, body }: Event<'capability.verified'>): Capability {
  const { how, runs, tools, effect = before.effect, servers = before.servers } = body
  const verifiedBy = { how, runs, at }
  const known = { ...before, effect, servers }
  const { status } = known
  if (status === 'forgotten' || status === 'demoted') return { ...known, verifiedBy }
  if (status === 'disabled') return { ...known, tools, verifiedBy, before: 'verified' }
  return { ...known, tools, verifiedBy, status: 'verified', reason: null }
}

function decided(known: Capability, { status, why }: EventBodies['capability.changed']): Capability {
  const { before, ...rest } = known
  switch (status) {
    case 'disabled':
      return { ...known, status, reason: why, before: before ?? known.status }
    case 'enabled': {
      // A candidate is held against its runs again: that it may be offered is no verification.
      const now = enabledStatus(known)
      return { ...rest, status: now, reason: now === 'candidate' ? null : why, isKept: true }
    }
    default:
      return known.status === 'disabled' && status !== 'forgotten'
        ? { ...known, before: status }
        : { ...known, status, reason: why }
  }
}

/** As it was; a demoted one that was verified is offered again, since a human says so. */
function enabledStatus({ status, before, verifiedBy }: Capability): CapabilityStatus {
  const was = status === 'disabled' ? (before ?? 'candidate') : status
  return was === 'demoted' && verifiedBy !== null ? 'verified' : was
}

function stale(known: Capability, reason: string): Capability[] {
  const isRefuted = known.status === 'stale' && known.reason?.startsWith(checkedAgain) === true
  if (known.status === 'verified' || isRefuted) return [{ ...known, status: 'stale', reason }]
  return known.status === 'disabled' && known.before === 'verified' ? [{ ...known, before: 'stale' }] : []
}

/** The runs that it is held against: which taught it, or by which one from a file was verified. */
export const fixturesOf = ({ runs, imported, verifiedBy }: Capability): readonly string[] =>
  imported === true ? (verifiedBy?.runs ?? []) : runs

/** A human removed a run that it is held against; without any it cannot be shown to work. */
function without(known: Capability, run: string): Capability[] {
  if (!fixturesOf(known).includes(run)) return []
  const others = (runs: string[]) => runs.filter((one) => one !== run)
  const verifiedBy = known.verifiedBy && { ...known.verifiedBy, runs: others(known.verifiedBy.runs) }
  const left = { ...known, runs: others(known.runs), verifiedBy }
  const why = 'the last run that it could be held against was purged'
  return fixturesOf(left).length > 0 ? [left] : [stale(left, why)[0] ?? left]
}

/** As agents and people name it. */
export const idOf = ({ name, version }: Pick<Capability, 'name' | 'version'>) => capabilityId(name, version)
