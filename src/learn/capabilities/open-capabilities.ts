/**
 * The capabilities of a home as the engine calls them, read from its chain alone: whatever is made
 * again of the rest that was learned, a call finds them, and a replayed one finds what it called.
 */
import {
  type Actor,
  AppError,
  type Event,
  type EventBodies,
  homeChain,
  isCapability,
  nearNames,
  parseCapabilityId,
} from '#model'
import type { Store } from '#record'
import type { CallableCapability, Capabilities } from '#run'
import {
  applyToCapabilities,
  type Capability,
  type CapabilityTable,
  capabilityEvents,
  idOf,
  isUsable,
} from './capability-status.ts'
import { withoutValues } from './shared-capability.ts'

export type HomeCapabilities = Capabilities & {
  /** The same with what was forgotten, which is not learned again. */
  versions(): Capability[]
  /** Each version of each, oldest first, without what was forgotten. */
  all(): Capability[]
}

/**
 * `isShared`: people whom the gateway tells apart use what was learned from each other's runs,
 * without its values.
 */
export function openCapabilities(store: Pick<Store, 'count' | 'events'>, isShared: () => boolean): HomeCapabilities {
  const read = openTable(store)
  const all = () => [...read().values()].filter(({ status }) => status !== 'forgotten')
  const isOwn = ({ subject }: Capability, { kind, subject: asking }: Actor) =>
    subject === (asking ?? null) || kind === 'cli' || kind === 'learn'
  return {
    all,
    versions: () => [...read().values()],
    resolve(id, actor) {
      const own = all().filter((one) => isOwn(one, actor) || isShared())
      const parsed = parseCapabilityId(id)
      const versions = own.filter(({ name }) => name === parsed?.name)
      if (parsed === null || versions.length === 0) throw unknown(id, own)
      const { version } = parsed
      const meant = version === null ? newest(versions) : versions.find((one) => one.version === version)
      if (meant === undefined) throw noVersion(id, versions)
      const problem = actor.kind === 'learn' ? null : problemOf(meant, version !== null)
      if (problem !== null) throw refused(id, meant, problem)
      return callable(isOwn(meant, actor) ? meant : withoutValues(meant))
    },
    learned(id, digest) {
      const events = store.events(homeChain, { type: 'capability.learned' }) as Event<'capability.learned'>[]
      const found = events.find(({ body }) => isThat(body, id) && (digest === undefined || body.digest === digest))
      if (found === undefined) throw lost(id)
      const { digest: known, source, parametersSchema, tools } = found.body
      return { id, digest: known, source, parametersSchema, calls: calledBy(tools) }
    },
  }
}

/** Follows the home's chain; what was read is not read again. */
function openTable(store: Pick<Store, 'count' | 'events'>): () => CapabilityTable {
  const table: CapabilityTable = new Map()
  let after = 0
  return () => {
    const head = store.count(homeChain)
    if (head === after) return table
    const events = capabilityEvents.flatMap((type) => store.events(homeChain, { after, type }))
    for (const event of events.filter(({ n }) => n <= head).sort((left, right) => left.n - right.n)) {
      applyToCapabilities(table, event)
    }
    after = head
    return table
  }
}

function newest(versions: Capability[]): Capability {
  const inOrder = versions.toSorted((left, right) => right.version - left.version)
  return inOrder.find(({ status }) => status === 'verified') ?? inOrder[0]!
}

/** A version that a better one replaced can still be called by its own number. */
function problemOf(one: Capability, isByVersion: boolean): string | null {
  const { status, reason } = one
  const why = reason === null ? '' : `: ${reason}`
  switch (status) {
    case 'verified':
      return null
    case 'candidate':
      return 'it was not verified yet; "metier capabilities verify" does so'
    case 'stale':
      return `it is stale${why}; "metier capabilities verify" checks it again`
    case 'demoted':
      return isByVersion && isUsable(one) ? null : `it was demoted${why}`
    default:
      return `it is ${status}${why}`
  }
}

const callable = (capability: Capability): CallableCapability => {
  const { digest, source, parametersSchema, tools } = capability
  return { id: idOf(capability), digest, source, parametersSchema, calls: calledBy(tools) }
}

const calledBy = (tools: Capability['tools']) => Object.keys(tools).filter(isCapability)

function isThat(body: EventBodies['capability.learned'], id: string): boolean {
  return idOf({ name: body.capability, version: body.version }) === id
}

function unknown(id: string, own: Capability[]): AppError {
  const names = [...new Set(own.map(({ name }) => `cap:${name}`))]
  const near = nearNames(id, names)
  const form =
    parseCapabilityId(id) === null ? 'a capability is named cap:name or cap:name@2' : 'discover finds what there is'
  const hint = near.length === 0 ? form : `did you mean ${near.join(' or ')}?`
  const message = `Cannot call "${id}": there is no such capability; ${hint}`
  return new AppError('TOOL_NOT_FOUND', message, { tool: id, ...(near.length > 0 && { near }) })
}

function noVersion(id: string, versions: Capability[]): AppError {
  const known = versions.map(({ version }) => version).join(', ')
  return new AppError('TOOL_NOT_FOUND', `Cannot call "${id}": there are only the versions ${known}`, { tool: id })
}

function refused(id: string, { status, version }: Capability, problem: string): AppError {
  const code = status === 'stale' ? 'TOOL_CHANGED' : status === 'disabled' ? 'PERMISSION_DENIED' : 'TOOL_NOT_FOUND'
  return new AppError(code, `Cannot call "${id}": ${problem}`, { tool: id, version, status })
}

function lost(id: string): AppError {
  return new AppError('LEDGER_BROKEN', `Cannot find "${id}" as it was learned: the home's chain has no such event`, {
    tool: id,
  })
}
