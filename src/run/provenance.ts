/**
 * Where the arguments of a call come from: what the program's text says, held against what its run
 * has seen.
 */
import { type ArgumentOrigin, type DagTask, type Json, limits, type Program, type Turn, toText } from '#model'
import type { RunContext } from '#run/calls'
import { boundsOf } from '#run/dag'
import { preparedCached } from '#run/program'
import { formatCallId, type Journal, leavesOf, parseCallId, pointersTo } from '#run/record'
import { type CallNode, type Source, type Structure, structureOf } from '#run/structure'

/**
 * The programs of a run as they are, and what is known of where the arguments of their calls come
 * from.
 */
export function watchRun({ started }: Journal, { program, nest }: Pick<RunContext, 'program' | 'nest'>) {
  const { plan, args } = started
  const isCode = plan.kind === 'code'
  const provenance = new Provenance(plan.kind === 'dag' ? (plan.source as DagTask[]) : [])
  const watched: Pick<RunContext, 'program' | 'nest' | 'originsOf'> = {
    program: provenance.watch(program, '', isCode ? (plan.source as string) : null, toText(args)),
    nest: async (source, given, id, now) => {
      const code = typeof source === 'string' ? source : null
      return provenance.watch(await nest(source, given, id, now), id, code, given)
    },
    originsOf: (call) => provenance.of(call),
  }
  return watched
}

type CallToTrace = { id: string; tool: string; args: string; task?: string }
type ResolvedCall = { id: string; tool: string; task?: string; text: string | null }

/**
 * One program of the run: its text, read when it is asked about, its arguments, and the calls that
 * it made.
 */
type WatchedProgram = { code: string | null; args: string; structure: Structure | null; calls: ResolvedCall[] }

class Provenance {
  readonly #tasks: ReadonlyMap<string, DagTask>
  readonly #programs = new Map<string, WatchedProgram>()
  /** Results that are remembered, oldest first. */
  readonly #held: ResolvedCall[] = []
  #heldCharacters = 0

  constructor(tasks: DagTask[]) {
    this.#tasks = new Map(tasks.map((task) => [task.id, task]))
  }

  /** The same program; what it issues and hears is remembered, within bounds. */
  watch(program: Program, path: string, code: string | null, args: string): Program {
    const watched: WatchedProgram = { code, args, structure: null, calls: [] }
    this.#programs.set(path, watched)
    const issued = (turn: Turn): Turn => {
      for (const { tool, task } of turn.calls) {
        const id = formatCallId({ program: path, number: watched.calls.length + 1 })
        watched.calls.push({ id, tool, ...(task === undefined ? {} : { task }), text: null })
      }
      return turn
    }
    return {
      start: () => program.start().then(issued),
      // What is told all at once in a replay is known when its turn is back: then the call has been
      // issued.
      deliver: async (delivery) => {
        const turn = await program.deliver(delivery)
        const call = watched.calls[delivery.call - 1]
        if (call !== undefined && delivery.ok) this.#hold(call, delivery.text)
        return issued(turn)
      },
      drop: () => program.drop(),
    }
  }

  #hold(call: ResolvedCall, text: string): void {
    if (text.length > limits.provenanceCharactersMax) return
    call.text = text
    this.#held.push(call)
    this.#heldCharacters += text.length
    while (this.#heldCharacters > limits.provenanceCharactersMax) {
      const oldest = this.#held.shift()!
      this.#heldCharacters -= oldest.text!.length
      oldest.text = null
    }
  }

  /** What is known of each of its arguments; an argument of which nothing is known is not named. */
  of(call: CallToTrace): ArgumentOrigin[] {
    const watched = this.#programs.get(parseCallId(call.id).program)
    const task = call.task === undefined ? undefined : this.#tasks.get(call.task)
    if (watched === undefined) return []
    const leaves = leavesOf(JSON.parse(call.args) as Json)
    if (task !== undefined) return leaves.map(({ path }) => this.#ofTask(task, path, watched))
    const sites = this.#sites(watched, call.tool)
    return leaves.flatMap(({ path, value }) => this.#ofLeaf(watched, sites, path, value) ?? [])
  }

  #sites(watched: WatchedProgram, tool: string): CallNode[] {
    if (watched.code === null) return []
    watched.structure ??= structureOf(preparedCached(watched.code).source)
    if (!watched.structure.known) return []
    const calls = watched.structure.nodes.filter((node) => node.kind === 'call')
    const named = calls.filter(({ tools }) => tools.includes(tool))
    return named.length > 0 ? named : calls.filter(({ tools }) => tools.length === 0)
  }

  /**
   * A result that reached it first, then an argument, then a literal: of two that fit, the one to
   * be more careful with.
   */
  #ofLeaf(watched: WatchedProgram, sites: CallNode[], path: string, value: Json): ArgumentOrigin | null {
    const sources = sites.flatMap(({ inputs }) =>
      inputs
        .filter((input) => path === input.path || path.startsWith(`${input.path}/`))
        .map((input) => ({ source: input.source, rest: path.slice(input.path.length) })),
    )
    const exact = sources.flatMap(({ source, rest }) => this.#borneOut(watched, source, rest, value) ?? [])
    const order = ['call', 'args', 'literal']
    exact.sort((a, b) => order.indexOf(a.source) - order.indexOf(b.source))
    const nearest = Math.min(...sources.map(({ rest }) => rest.length))
    const near = sources.filter(({ rest }) => rest.length === nearest)
    const found = exact[0] ?? this.#seenBefore(watched, value) ?? computedFrom(near, watched)
    return found === null ? null : { path, ...found }
  }

  /** What the text says, where the values bear it out. */
  #borneOut(watched: WatchedProgram, source: Source, rest: string, value: Json): Omit<ArgumentOrigin, 'path'> | null {
    if (!source.exact) return null
    if (source.kind === 'literal') {
      return rest === '' && source.value === value ? { source: 'literal', line: source.line } : null
    }
    if (source.kind === 'args') {
      const [resultPath] = pointersTo(JSON.parse(watched.args) as Json, value, source.path + rest)
      return resultPath === undefined ? null : { source: 'args', resultPath }
    }
    return this.#inResults(toolCalls(watched, source.node), value, source.path + rest)
  }

  #inResults(calls: ResolvedCall[], value: Json, pattern: string | null): Omit<ArgumentOrigin, 'path'> | null {
    for (const { id, text } of calls.toReversed().slice(0, limits.provenanceCallsMax)) {
      if (text === null) continue
      const [resultPath] = pointersTo(JSON.parse(text) as Json, value, pattern)
      if (resultPath !== undefined) return { source: 'call', call: id, resultPath }
    }
    return null
  }

  /** A value that says enough to be known again, wherever the text lost its track. */
  #seenBefore(watched: WatchedProgram, value: Json): Omit<ArgumentOrigin, 'path'> | null {
    if (String(value).length < limits.provenanceCharactersMin) return null
    const found = this.#inResults(watched.calls, value, null)
    if (found !== null) return found
    const [resultPath] = pointersTo(JSON.parse(watched.args) as Json, value, null)
    return resultPath === undefined ? null : { source: 'args', resultPath }
  }

  /** A graph says itself what it takes from where. */
  #ofTask({ arguments: args = {}, forEach }: DagTask, path: string, { calls }: WatchedProgram): ArgumentOrigin {
    const bound = boundsOf(args).find(({ at }) => path === at || path.startsWith(`${at}/`))
    if (bound === undefined) return { path, source: 'literal' }
    const { $from = forEach?.$from, isText } = bound
    const below = bound.$from === undefined ? `${forEach?.path ?? ''}/*${bound.path}` : bound.path
    const made = calls.filter(({ task }) => task === $from)
    const resultPath = below + path.slice(bound.at.length)
    const call = made.length === 1 ? { call: made[0]!.id } : {}
    return { path, source: 'call', ...call, resultPath, ...(isText ? { computed: true } : {}) }
  }
}

/** The calls that a place in the text has made, as far as their tool tells. */
function toolCalls({ structure, calls }: WatchedProgram, node: string): ResolvedCall[] {
  const site = structure?.known ? structure.nodes.find(({ id }) => id === node) : undefined
  const tools = site?.kind === 'call' ? site.tools : []
  return calls.filter(({ tool }) => tools.length === 0 || tools.includes(tool))
}

type Found = { source: Source; rest: string }

/** What it was made from, where it is not that itself. */
function computedFrom(sources: Found[], watched: WatchedProgram): Omit<ArgumentOrigin, 'path'> | null {
  const call = sources.find(({ source }) => source.kind === 'call')?.source
  if (call?.kind === 'call') {
    const last = toolCalls(watched, call.node).findLast(({ text }) => text !== null)
    if (last !== undefined) return { source: 'call', call: last.id, resultPath: call.path, computed: true }
  }
  const args = sources.find(({ source }) => source.kind === 'args')?.source
  if (args?.kind === 'args') return { source: 'args', resultPath: args.path, computed: true }
  const literal = sources.find(({ source }) => source.kind === 'literal')?.source
  return literal?.kind === 'literal' ? { source: 'literal', line: literal.line, computed: true } : null
}
