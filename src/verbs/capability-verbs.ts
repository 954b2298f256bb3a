/** Capabilities as people look at them and decide about them; each word is on the home's chain. */
import { type Capability, idOf, interventionOf, posteriorOf } from '#learn'
import { AppError, type Json, type JsonObject, parseCapabilityId, type RunId, type Stored } from '#model'
import { exportedCapability, importedCapability } from './capability-files.ts'
import type { CapabilityVerbs } from './contract.ts'
import { openJudge } from './judge-capabilities.ts'
import {
  decideCapability,
  type LearnedFacts,
  type LearningParts,
  learnCapabilities,
  verifyCapability,
} from './learn-capabilities.ts'

export function openCapabilityVerbs(parts: LearningParts): CapabilityVerbs {
  const { store, capabilities } = parts
  const judge = openJudge(parts)
  let seen: LearnedFacts | null = null
  const newestOf = (name: string) => capabilities.all().findLast((one) => one.name === name)
  const find = (id: string): Capability => {
    const parsed = parseCapabilityId(id.startsWith('cap:') ? id : `cap:${id}`)
    const versions = capabilities.all().filter(({ name }) => name === parsed?.name)
    const found = versions.findLast(({ version }) => version === (parsed?.version ?? version))
    if (found === undefined)
      throw new AppError('TOOL_NOT_FOUND', `Cannot find "${id}": there is no such capability`, { id })
    return found
  }
  return {
    capabilities(status) {
      const newest = capabilities.all().filter((one) => newestOf(one.name) === one)
      return newest.filter((one) => status === undefined || one.status === status).map((one) => listed(parts, one))
    },
    capability(id) {
      const one = find(id)
      const { isHarmful: _, ...judged } = interventionOf(judge.verdictsOn(one))
      return { ...shown(parts, one), judged }
    },
    async verifyCapability(id) {
      const one = find(id)
      return { id: idOf(one), ...(await verifyCapability(parts, one, false)) }
    },
    async decideCapability(id, status, caller) {
      const { name } = find(id)
      const version = parseCapabilityId(id.startsWith('cap:') ? id : `cap:${id}`)!.version
      await decideCapability(parts, { name, version }, status, caller)
      return { id: version === null ? `cap:${name}` : `cap:${name}@${version}`, status }
    },
    exportCapability: (id) => exportedCapability(store, find(id)),
    async importCapability(file) {
      const body = importedCapability(file, capabilities.versions(), parts.secrets?.())
      await store.appendHome('capability.learned', body)
      return listed(parts, find(`cap:${body.capability}@${body.version}`))
    },
    async learnCapabilities(isServing, signal) {
      const facts = parts.facts()
      if (facts === seen) return []
      const learned = await learnCapabilities(parts, { isServing, judge }, signal)
      seen = facts
      return learned
    },
  }
}

function listed({ facts }: LearningParts, one: Capability): JsonObject {
  const uses = facts().usesOf(one.name, one.version)
  const { successes, mean } = posteriorOf(uses)
  const ms = uses.reduce((sum, use) => sum + use.ms, 0)
  return {
    id: `cap:${one.name}`,
    intent: one.intent,
    version: one.version,
    status: one.status,
    ...(one.reason === null ? {} : { reason: one.reason }),
    toolsUsed: Object.keys(one.tools),
    executionCount: uses.length,
    successRate: uses.length === 0 ? null : successes / uses.length,
    avgDurationMs: uses.length === 0 ? null : Math.round(ms / uses.length),
    confidence: Math.round(mean * 100) / 100,
  }
}

function shown(parts: LearningParts, one: Capability): JsonObject {
  const { store, capabilities, facts } = parts
  const versions = capabilities.all().filter(({ name }) => name === one.name)
  const tools = Object.keys(one.tools)
  return {
    ...listed(parts, one),
    source: one.source,
    digest: one.digest,
    parametersSchema: one.parametersSchema,
    effect: one.effect,
    tools: one.tools,
    inferredStructure: {
      tools,
      edges: tools.filter((id) => id.startsWith('cap:')).map((to) => ({ from: idOf(one), to, type: 'contains' })),
    },
    versions: versions.map(({ version, status, learnedAt }) => ({ version, status, learnedAt })),
    verifiedBy: one.verifiedBy,
    fixtures: one.runs,
    invocations: facts()
      .usesOf(one.name, one.version)
      .map((use) => invocation(store, one, use)),
  }
}

type Use = ReturnType<ReturnType<LearningParts['facts']>['usesOf']>[number]

/**
 * What an execution was given and gave, as its run has it; of one that was purged only that it was.
 */
function invocation(store: LearningParts['store'], one: Capability, { run, call, at, success, ms }: Use): JsonObject {
  const said = {
    id: call === '' ? run : `${run}/${call}`,
    capabilityId: idOf(one),
    timestamp: at,
    success,
    durationMs: ms,
  }
  const events = store.isPurged(run as RunId) ? [] : store.events(run)
  let [given, result]: Json[] = [null, null]
  for (const event of events) {
    if (event.type === 'run.started' && call === '') given = store.value(event.body.args) as Json
    if (event.type === 'run.finished' && call === '') result = opened(store, event.body.result)
    if (event.type === 'call.issued' && event.body.call === call) given = store.value(event.body.args) as Json
    if (event.type === 'call.resolved' && event.body.call === call) result = opened(store, event.body.value)
  }
  return { ...said, arguments: given!, results: result! }
}

const opened = (store: LearningParts['store'], member: Stored<Json> | undefined): Json =>
  member === undefined ? null : store.value(member)
