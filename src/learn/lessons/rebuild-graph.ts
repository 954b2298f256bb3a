/**
 * The graph that a run of a program amounts to, rebuilt from its record so that it can be executed:
 * a task for each call, what was handed on as it is as a binding, what was computed on the way as
 * code of the program, the rest as the values that were recorded. A program whose loops make calls
 * is no graph, and is said to be none; branches are shown beside the graph of what was taken.
 */
import { isDeepStrictEqual } from 'node:util'
import { atPointer, type DagTask, isObject, type Json, type JsonObject } from '#model'
import { loadStructure, type ProgramSlice, type StructureNode } from '#run'
import { callsBySite } from './call-sites.ts'
import { flowsOfRun, type RunFlow } from './flows-of-run.ts'
import { type Lesson, type LessonCall, ownCalls } from './lesson.ts'
import { type CallSite, programCached, type ReadProgram } from './read-program.ts'
import { sequenceEdges } from './sequence.ts'

const { sliceProgram } = await loadStructure()

/** A place where a program repeats or branches, with the calls that this run made there. */
type Turning = {
  form: string
  line: number
  condition?: string
  arms: { arm: string; tools: string[]; calls: string[] }[]
}

type RebuiltGraph =
  | {
      tasks: DagTask[] /** What stands as its value, since it cannot be computed. */
      fixed: string[]
      branches: Turning[]
      repeats: Turning[]
    }
  | { why: string; loops: Turning[]; branches: Turning[] }

export function rebuildGraph(lesson: Lesson): RebuiltGraph {
  const { plan } = lesson
  const none = (why: string): RebuiltGraph => ({ why, loops: [], branches: [] })
  if (plan.kind === 'dag') return { tasks: plan.tasks, fixed: [], branches: [], repeats: [] }
  if (plan.kind === 'agent') return none('it is a session of the agent')
  const program = programCached(plan.code)
  if ('why' in program) return none(program.why)
  const own = ownCalls(lesson).filter((call) => call.program === '')
  const made = callsBySite(program, own)
  const sites = new Map(program.sites.flatMap((site) => (made.get(site.id) ?? []).map((call) => [call, site] as const)))
  const turnings = (kind: StructureNode['kind']) => turningsOf(program, kind, sites)
  const [loops, branches] = [turnings('loop'), turnings('branch')]
  const explored = '"execute --explore" shows the paths of its program'
  if (loops.length > 0) return { why: `it makes calls in a loop; ${explored}`, loops, branches }
  if (lesson.status !== 'done') return { why: `it ended ${lesson.status}`, loops, branches }
  if (own.length === 0) return { why: 'it called nothing', loops, branches }
  if (own.some(({ ok }) => !ok)) return { why: `it went on after a call had failed; ${explored}`, loops, branches }
  return { ...new Rebuilder(lesson, program, sites).rebuild(own), branches, repeats: turnings('operation') }
}

type Sites = ReadonlyMap<LessonCall, CallSite>

/** Those that hold a call, with all that is below their arms. */
function turningsOf(
  { structure: { nodes }, lineOf }: ReadProgram,
  kind: StructureNode['kind'],
  sites: Sites,
): Turning[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  return nodes.flatMap((node): Turning[] => {
    if (node.kind !== kind) return []
    const armOf = (inner: StructureNode): string | null => {
      if (inner.within === null) return null
      return inner.within === node.id ? (inner.arm ?? 'body') : armOf(byId.get(inner.within)!)
    }
    const inside = nodes.flatMap((inner) => (inner.kind === 'call' && armOf(inner) !== null ? [inner] : []))
    if (inside.length === 0) return []
    const line = lineOf(node.line)
    const form = node.kind === 'operation' ? node.operation : 'form' in node ? node.form : node.kind
    const names = node.kind === 'branch' ? node.arms : [...new Set(inside.map((site) => armOf(site)!))]
    const arms = names.map((arm) => {
      const held = inside.filter((site) => armOf(site) === arm)
      const calls = [...sites].filter(([, site]) => held.some(({ id }) => id === site.id)).map(([{ id }]) => id)
      return { arm, tools: [...new Set(held.flatMap(({ tools }) => tools))], calls }
    })
    return [
      { form, line, ...(node.kind === 'branch' && node.condition !== '' ? { condition: node.condition } : {}), arms },
    ]
  })
}

/** One run as it becomes tasks: `c3` is call 3, `a3` what its arguments are computed by. */
class Rebuilder {
  readonly #lesson: Lesson
  readonly #program: ReadProgram
  readonly #sites: Sites
  readonly #flows: RunFlow[]
  readonly #fixed: string[] = []
  readonly #repeated: Set<string>
  readonly #given = new Map<string, JsonObject>()

  constructor(lesson: Lesson, program: ReadProgram, sites: Sites) {
    this.#lesson = lesson
    this.#program = program
    this.#sites = sites
    const results = new Map(lesson.calls.map(({ id, result }) => [id, result]))
    // A path into JSON inside a text is a flow, but no binding.
    this.#flows = flowsOfRun(lesson).filter(({ how, from, to }) => {
      const args = lesson.calls.find(({ id }) => id === to.call)?.args
      const given = isObject(args) ? atPointer(args, to.path) : undefined
      return (
        (how === 'read' || how === 'equal') && isDeepStrictEqual(atPointer(results.get(from.call), from.path), given)
      )
    })
    const counts = Map.groupBy(
      ownCalls(lesson).filter(({ program }) => program === ''),
      ({ tool }) => nameInText(tool),
    )
    this.#repeated = new Set([...counts].filter(([, calls]) => calls.length > 1).map(([tool]) => tool))
  }

  rebuild(calls: LessonCall[]): { tasks: DagTask[]; fixed: string[] } {
    const before = Map.groupBy(sequenceEdges(calls), ({ to }) => to)
    const tasks = calls.flatMap((call): DagTask[] => {
      const needs = (before.get(call.id) ?? []).map(({ from }) => `c${from}`)
      return this.#taskOf(call, needs, calls)
    })
    return { tasks: [...tasks, ...this.#resultTask(tasks, calls)], fixed: this.#fixed }
  }

  #taskOf(call: LessonCall, needs: string[], calls: LessonCall[]): DagTask[] {
    const { id, tool, args } = call
    const bound = this.#flows.filter(({ to }) => to.call === id)
    const computed = this.#computedMembers(call, bound)
    const slice = computed.length === 0 ? null : this.#argumentsSlice(call)
    const task = slice === null ? null : this.#argumentsTask(call, slice, calls)
    const given = bind(args, '', bound) as JsonObject
    if (task === null) this.#fixed.push(...computed.map((name) => `${id} /${name}`))
    else for (const name of computed) given[name] = { $from: task.id, path: `/${name}` }
    this.#given.set(id, given)
    const type = tool.startsWith('cap:') ? { type: 'capability' as const } : {}
    const waits = needs.length === 0 ? {} : { dependsOn: needs }
    return [...(task === null ? [] : [task]), { id: `c${id}`, tool, ...type, arguments: given, ...waits }]
  }

  /** Members of its arguments that hold what was made from a result, or from an unknown source. */
  #computedMembers(call: LessonCall, bound: RunFlow[]): string[] {
    const site = this.#sites.get(call)
    if (site === undefined || !isObject(call.args)) return []
    const taken = site.inputs.filter(({ source }) => source.kind === 'call')
    const isBound = (path: string) => bound.some(({ to }) => to.path === path || path.startsWith(`${to.path}/`))
    const open = taken.filter(({ path }) => !isBound(path)).map(({ path }) => path.split('/')[1] ?? '')
    const names = open.includes('') ? Object.keys(call.args) : open
    return [...new Set(names)].filter((name) => Object.hasOwn(call.args as object, name) && !/[~/]/.test(name))
  }

  #argumentsSlice(call: LessonCall): ProgramSlice | null {
    const site = this.#sites.get(call)
    if (site === undefined || !this.#isSliceable) return null
    const { line, column } = site
    return sliceProgram(this.#program.source, { tool: nameInText(call.tool), line, column }, this.#repeated)
  }

  /** Code that holds a reference to the tools could call them from within a slice. */
  get #isSliceable(): boolean {
    const { isWhole, handed } = this.#program.structure
    return isWhole && handed.length === 0
  }

  #argumentsTask(call: LessonCall, slice: ProgramSlice, calls: LessonCall[]): DagTask {
    const earlier = calls.filter((one) => one !== call && Number(one.id) < Number(call.id))
    const skip = earlier.filter(({ tool, end }) => tool === call.tool && end > call.start).length
    const known = earlier.filter(({ end }) => end < call.start)
    return this.#codeTask(`a${call.id}`, slice, known, skip === 0 ? {} : { skip })
  }

  #codeTask(id: string, { code, tools, takesArgs }: ProgramSlice, known: LessonCall[], more: JsonObject): DagTask {
    const calls = known
      .filter(({ tool }) => tools.includes(nameInText(tool)))
      .map(({ id: from, tool }): JsonObject => {
        const name = nameInText(tool)
        const given = this.#repeated.has(name) ? { given: this.#given.get(from)! } : {}
        return { tool: name, ...given, result: { $from: `c${from}` } }
      })
    const args = takesArgs ? { args: { $literal: this.#lesson.args } } : {}
    return { id, type: 'code_execution', code, arguments: { calls, ...args, ...more } }
  }

  /** What the program returned: the last to end, since a graph gives what nothing else takes. */
  #resultTask(tasks: DagTask[], calls: LessonCall[]): DagTask[] {
    const taken = new Set(
      tasks.flatMap(({ dependsOn = [], arguments: args }) => [...dependsOn, ...sourcesIn(args ?? {})]),
    )
    const leaves = tasks.filter(({ id }) => !taken.has(id)).map(({ id }) => id)
    const slice = this.#isSliceable ? sliceProgram(this.#program.source, 'result', this.#repeated) : null
    const last = calls.find(({ id }) => leaves.length === 1 && leaves[0] === `c${id}`)
    const isLast = last !== undefined && slice?.tools.includes(nameInText(last.tool)) === true
    if (slice?.isCall && isLast && isDeepStrictEqual(last.result, this.#lesson.result)) return []
    if (slice !== null) return [{ ...this.#codeTask('result', slice, calls, {}), dependsOn: leaves }]
    this.#fixed.push('result')
    const value = { $literal: this.#lesson.result ?? null }
    return [
      { id: 'result', type: 'code_execution', code: 'return args.value', arguments: { value }, dependsOn: leaves },
    ]
  }
}

/** A program names a capability without the version that it was resolved to. */
const nameInText = (tool: string) => (tool.startsWith('cap:') ? tool.replace(/@\d+$/, '') : tool)

function sourcesIn(value: Json): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (isObject(value) && typeof value.$from === 'string') return [value.$from]
  return isObject(value) && Object.hasOwn(value, '$literal')
    ? []
    : Object.values(value).flatMap((one) => sourcesIn(one as Json))
}

/** The recorded value, with a binding wherever a flow ends. */
function bind(value: Json, path: string, flows: readonly RunFlow[]): Json {
  const flow = flows.find(({ to }) => to.path === path)
  if (flow !== undefined && path !== '') return { $from: `c${flow.from.call}`, path: flow.from.path }
  const isAbove = flows.some(({ to }) => to.path.startsWith(`${path}/`))
  if (!isAbove && path !== '') return needsQuotes(value) ? { $literal: value } : value
  if (Array.isArray(value)) return value.map((item, at) => bind(item, `${path}/${at}`, flows))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, bind(member as Json, `${path}/${name}`, flows)]),
  )
}

/** What a graph would take for a binding, or for a text with one inside. */
const needsQuotes = (value: Json) => /\{\{|"\$(?:from|item|literal)"/.test(JSON.stringify(value))
