/**
 * Calls of capabilities. A program names `cap:x`; before anything else sees the call it is pinned
 * to one version, `cap:x@2`, whose source then runs inside as this call. A replayed call is pinned
 * by the digest that the record has, whatever became of the capability since. What cannot be called
 * is on the record like any call, and refused there. A capability grants nothing: its calls are
 * judged one by one.
 */
import { problemOf } from '#catalog'
import {
  type Actor,
  AppError,
  type CapabilitySource,
  type ErrorData,
  type IssuedCall,
  isCapability,
  isObject,
  type Json,
  type JsonObject,
  limits,
  type Plan,
  type Program,
  parseCapabilityId,
  type Turn,
  toAppError,
  toText,
} from '#model'
import type { RunContext } from '#run/calls'
import { instantiate } from '#run/dag'
import { formatCallId, type Journal } from '#run/record'
import { editOf } from './fork.ts'
import type { AskedRequest, RunRequest } from './run-started.ts'

/**
 * One version, ready to be called: `id` is `cap:name@version`, `digest` that of its source. A
 * program reads its parameters from `args`; in a graph `{ "$args": "/name" }` stands where one
 * goes.
 */
export type CallableCapability = {
  id: string
  digest: string
  source: CapabilitySource
  parametersSchema: JsonObject
  /** The versions of others that it called as it was verified: by their names it means these. */
  calls: readonly string[]
}

export type Capabilities = {
  /** The version that an id means to this actor; throws why it cannot be called. */
  resolve(id: string, actor: Actor): CallableCapability
  /** A version as it was learned, by its digest, whatever its status is now. */
  learned(id: string, digest?: string): CallableCapability
}

export const noCapabilities: Capabilities = {
  resolve: unknown,
  learned: unknown,
}

function unknown(id: string): never {
  throw new AppError('TOOL_NOT_FOUND', `Cannot call "${id}": no capability was learned yet`, { tool: id })
}

/** What a capability becomes: a plan of its own, with the arguments that it gets. */
type CapabilityPlan = { capability: string; plan: Extract<Plan, { kind: 'code' | 'dag' }>; args: Json }

/** Refuses arguments that its schema does not allow; defaults stand in for what is not given. */
function capabilityPlan({ id, source, parametersSchema }: CallableCapability, given: Json): CapabilityPlan {
  const args = withDefaults(given, parametersSchema)
  const problem = problemOf(asTool(id, parametersSchema), args)
  if (problem !== null) throw problem
  return { capability: id, plan: planOfSource(source, args), args }
}

export function planOfSource(source: CapabilitySource, args: Json): CapabilityPlan['plan'] {
  if (source.type === 'code') return { kind: 'code', code: source.code }
  return { kind: 'dag', tasks: instantiate(source.tasks, args) }
}

/** As schemas are judged: nothing else of a tool is looked at. */
export function asTool(id: string, input: JsonObject) {
  const said = { description: '', annotations: {}, effect: 'unsafe', effectFrom: 'default' } as const
  return { id, server: 'cap', name: id.slice(4), input, ...said, digest: `${id} ${toText(input)}` }
}

function withDefaults(args: Json, { properties }: JsonObject): Json {
  if (!isObject(args) || !isObject(properties)) return args
  const defaults = Object.entries(properties).flatMap(([name, schema]) =>
    isObject(schema) && schema.default !== undefined && !Object.hasOwn(args, name) ? [[name, schema.default]] : [],
  )
  return defaults.length === 0 ? args : { ...args, ...Object.fromEntries(defaults) }
}

/** A request with the plan that it asks for; `pinned` is that of the run that has its key. */
export function withPlan(request: AskedRequest, capabilities: Capabilities, pinned?: string): RunRequest {
  const { plan, ...rest } = request
  if (plan.kind !== 'capability') return { ...rest, plan }
  const isThat = pinned !== undefined && isMeant(plan.id, pinned)
  const capability = isThat ? capabilities.learned(pinned) : capabilities.resolve(plan.id, request.actor)
  return { ...rest, ...capabilityPlan(capability, request.args) }
}

/** Whether `cap:x` or `cap:x@2` means the version that was pinned. */
function isMeant(id: string, pinned: string): boolean {
  return pinned === id || pinned.startsWith(`${id}@`)
}

type Programs = Pick<RunContext, 'program' | 'nest'>

/** The programs of a run, their calls of capabilities pinned. */
export function pinCapabilities(capabilities: Capabilities, journal: Journal, { program, nest }: Programs): Programs {
  const pins = new CapabilityPins(capabilities, journal)
  return {
    program: pins.watch(program, ''),
    nest: async (source, given, id, now) => pins.watch(await nest(source, pins.argumentsOf(id) ?? given, id, now), id),
  }
}

export class CapabilityPins {
  readonly #capabilities: Capabilities
  readonly #journal: Pick<Journal, 'started' | 'calls'>
  /** By call: the name of the capability that runs as it, and what its program gets. */
  readonly #running = new Map<string, { name: string; args: string; calls: readonly string[] }>()

  constructor(capabilities: Capabilities, journal: Pick<Journal, 'started' | 'calls'>) {
    this.#capabilities = capabilities
    this.#journal = journal
  }

  /** The same program; turns come in their order, so calls are counted as they are numbered. */
  watch(program: Program, path: string): Program {
    let issued = 0
    const pinned = (turn: Turn): Turn => {
      const calls = turn.calls.map((call) => {
        issued += 1
        const isOurs = isCapability(call.tool) && call.refused === undefined
        return isOurs ? this.#pin(call, formatCallId({ program: path, number: issued })) : call
      })
      return { ...turn, calls }
    }
    return {
      start: async () => pinned(await program.start()),
      deliver: async (delivery) => pinned(await program.deliver(delivery)),
      drop: () => program.drop(),
    }
  }

  /** What the program inside a call gets, where that is not what the call was given. */
  argumentsOf(id: string): string | undefined {
    return this.#running.get(id)?.args ?? editOf(this.#journal.started, id).edited
  }

  #pin(call: IssuedCall, id: string): IssuedCall {
    try {
      const capability = this.#capabilityOf(call, id)
      if (capability === null) return { ...call, refusal: refusedBefore(call) }
      const { edited: given = call.args } = editOf(this.#journal.started, id)
      const { plan, args } = capabilityPlan(capability, JSON.parse(given) as Json)
      const { name } = parseCapabilityId(capability.id)!
      this.#running.set(id, { name, args: toText(args), calls: capability.calls })
      const source = plan.kind === 'code' ? { code: plan.code } : { tasks: plan.tasks }
      return { ...call, ...source, tool: capability.id, capability: capability.digest }
    } catch (error) {
      return { ...call, refusal: toAppError(error).toJSON() }
    }
  }

  /** Null where the record has the call and says that none was found. */
  #capabilityOf({ tool }: IssuedCall, id: string): CallableCapability | null {
    const recorded = this.#journal.calls.get(id)
    if (recorded === undefined) {
      const meant = this.#pinnedBy(id).find((pinned) => isMeant(tool, pinned)) ?? tool
      const capability = this.#capabilities.resolve(meant, this.#journal.started.actor)
      this.#refuseDeep(parseCapabilityId(capability.id)!.name, id)
      return capability
    }
    if (recorded.definition === null) return null
    return isMeant(tool, recorded.tool) ? this.#capabilities.learned(recorded.tool, recorded.definition) : null
  }

  /** What the capability that makes a call was verified with. */
  #pinnedBy(id: string): readonly string[] {
    const outer = id.includes('.') ? id.slice(0, id.lastIndexOf('.')) : ''
    const { capability } = this.#journal.started
    if (outer !== '') return this.#running.get(outer)?.calls ?? []
    return capability === undefined ? [] : this.#capabilities.learned(capability).calls
  }

  #refuseDeep(name: string, id: string): void {
    const outer = this.#outerOf(id)
    const path = [...outer, name].map((one) => `cap:${one}`).join(' → ')
    const refuse = (why: string) => {
      throw new AppError('PLAN_INVALID', `Cannot call "cap:${name}": ${why} (${path})`, { tool: `cap:${name}` })
    }
    if (outer.includes(name)) refuse('it is running already, and would call itself')
    if (outer.length >= limits.capabilityDepthMax) {
      refuse(`capabilities call each other at most ${limits.capabilityDepthMax} deep`)
    }
  }

  /** The capabilities around a call, outermost first. */
  #outerOf(id: string): string[] {
    const { capability } = this.#journal.started
    const parts = id.split('.')
    const calls = parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('.'))
    const root = capability === undefined ? [] : [parseCapabilityId(capability)!.name]
    return [...root, ...calls.flatMap((call) => this.#running.get(call)?.name ?? [])]
  }
}

function refusedBefore({ tool }: IssuedCall): ErrorData {
  return new AppError('TOOL_NOT_FOUND', `Cannot call "${tool}": it could not be called then`, { tool }).toJSON()
}
