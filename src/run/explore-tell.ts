/** What was found on the paths of a plan: each with what leads into it, and all of them merged into one graph. */
import { type ErrorData, type Json, type JsonObject, limits, toText } from '#model'
import type { Assumed, Played, Step } from './explore-play.ts'
import type { StructureNode } from './structure/structure.ts'

export type Path = {
  calls: { tool: string; args: Json; task?: string }[]
  because: string[]
  /** With these a dry run takes this path. */
  mocks: JsonObject
  result?: Json
  /** Of a result that is too large to stand here. */
  preview?: string
  bytes?: number
  error?: ErrorData
}

export type GraphNode = { id: string; kind: 'start' | 'calls' | 'branch' | 'end'; label: string; line?: number }
export type GraphEdge = { from: string; to: string; label?: string; paths: number[] }
export type Graph = { nodes: GraphNode[]; edges: GraphEdge[] }

/** `uncovered` is what no path led into. `isWhole` is false where there is such, or more to try than the bounds allow. */
export type Exploration = { paths: Path[]; graph: Graph; uncovered: string[]; isWhole: boolean }

export type Told = { path: Path; stops: { node: GraphNode; out?: string }[] }
type Plotted = { args: Json; structureOf(code: string | null): StructureNode[] }

export function pathOf(plot: Plotted, { steps, calls, end }: Played, assumed: Assumed): Told {
  const codes = new Map(calls.flatMap(({ id, code }) => (code === undefined ? [] : [[id, code] as const])))
  const nodeOf = (program: string, id: string) =>
    plot.structureOf(codes.get(program) ?? null).find((node) => node.id === id)
  const path: Path = {
    calls: calls.map(({ tool, args, task }) => ({
      tool,
      args: clipped(args),
      ...(task === undefined ? {} : { task }),
    })),
    because: [...assumptions(plot, assumed, calls), ...steps.flatMap((step) => reason(step, nodeOf))],
    mocks: mocksOf(plot, assumed),
    ...(end.ok ? resultOf(end.value) : { error: inItsLines(end.error) }),
  }
  return { path, stops: [...stopsOf(steps, nodeOf), { node: endNode(path) }] }
}

function resultOf(text: string): Pick<Path, 'result' | 'preview' | 'bytes'> {
  if (text.length <= limits.exploreResultMax) return { result: JSON.parse(text) as Json }
  return { preview: text.slice(0, limits.previewCharactersMax), bytes: Buffer.byteLength(text) }
}

/** The marks move what stands behind them in a line: of a place only the line is right. */
function inItsLines(error: ErrorData): ErrorData {
  const { column: _, stack: __, ...context } = error.context
  return { ...error, message: error.message.replace(/ \(line (\d+), column \d+\)/, ' (line $1)'), context }
}

type NodeOf = (program: string, id: string) => StructureNode | undefined

function assumptions({ args }: Plotted, assumed: Assumed, calls: Played['calls']): string[] {
  const said = toText(assumed.args) === toText(args) ? [] : [`args are ${shown(assumed.args)}`]
  for (const [id, answer] of assumed.calls) {
    const tool = calls.find((call) => call.id === id)?.tool ?? ''
    said.push(`call ${id} (${tool}) ${'value' in answer ? `answers ${shown(answer.value)}` : 'fails'}`)
  }
  return said
}

function reason(step: Step, nodeOf: NodeOf): string[] {
  if (!('arm' in step)) return []
  const node = nodeOf(step.arm.program, step.arm.id)
  const said = node === undefined ? null : reasonFor(node, step.arm.arm)
  return said === null ? [] : [said]
}

/** What it means that a path takes this arm; null of what has no arms. */
export function reasonFor(node: StructureNode, arm: string): string | null {
  if (node.kind === 'loop') return `line ${node.line}: the loop has something to do`
  if (node.kind !== 'branch') return null
  const where = node.line === 0 ? '' : `line ${node.line}: `
  return `${where}${condition(node)} ${outcome(node, arm)}`
}

type Branch = Extract<StructureNode, { kind: 'branch' }>

function condition({ form, condition: text }: Branch): string {
  return form === 'try' ? 'what is tried' : text
}

function outcome(node: Branch, arm: string): string {
  if (node.form === 'try') return 'fails'
  if (node.form === 'switch') return `is ${armName(node, arm)}`
  if (node.form === 'nullish') return arm === 'then' ? 'is nothing' : 'is something'
  const isTrue = node.form === 'or' ? arm === 'else' : arm === 'then'
  return isTrue ? 'is true' : 'is false'
}

function armName({ arms }: Branch, arm: string): string {
  return arm.startsWith('#') ? (arms[Number(arm.slice(1))] ?? arm) : arm
}

function mocksOf({ args }: Plotted, assumed: Assumed): JsonObject {
  const calls = [...assumed.calls].map(([id, answer]) => [
    id,
    'value' in answer ? answer.value : { error: answer.failure },
  ])
  const changedArgs = toText(assumed.args) === toText(args) ? {} : { args: assumed.args as JsonObject }
  return { ...changedArgs, ...(calls.length === 0 ? {} : { calls: Object.fromEntries(calls) as JsonObject }) }
}

function stopsOf(steps: Step[], nodeOf: NodeOf): Told['stops'] {
  const times = new Map<string, number>()
  return steps.flatMap((step): Told['stops'] => {
    if ('calls' in step) {
      const label = step.calls.map(({ tool }) => tool).join(' + ')
      const time = (times.get(label) ?? 0) + 1
      times.set(label, time)
      return [{ node: { id: `${label} #${time}`, kind: 'calls', label } }]
    }
    const { program, id, arm } = step.arm
    const node = nodeOf(program, id)
    if (node?.kind !== 'branch') return []
    const branch: GraphNode = {
      id: `${program} ${id}`.trim(),
      kind: 'branch',
      label: condition(node),
      ...(node.line === 0 ? {} : { line: node.line }),
    }
    return [{ node: branch, out: outcome(node, arm) }]
  })
}

function endNode({ error }: Path): GraphNode {
  const label = error === undefined ? 'done' : `failed: ${error.code}`
  return { id: label, kind: 'end', label }
}

export function tell(told: Told[], uncovered: string[], isWhole: boolean): Exploration {
  const start: GraphNode = { id: 'start', kind: 'start', label: 'start' }
  const nodes = new Map([[start.id, start]])
  const edges = new Map<string, GraphEdge>()
  for (const [index, { stops }] of told.entries()) {
    let [from, out]: [string, string | undefined] = [start.id, undefined]
    for (const stop of stops) {
      nodes.set(stop.node.id, stop.node)
      const key = toText([from, stop.node.id, out])
      const edge = edges.get(key) ?? { from, to: stop.node.id, ...(out === undefined ? {} : { label: out }), paths: [] }
      edge.paths.push(index + 1)
      edges.set(key, edge)
      ;[from, out] = [stop.node.id, stop.out]
    }
  }
  return {
    paths: told.map(({ path }) => path),
    graph: { nodes: [...nodes.values()], edges: [...edges.values()] },
    uncovered,
    isWhole: isWhole && uncovered.length === 0,
  }
}

/** Large arguments would hide the path. */
function clipped(args: Json): Json {
  return toText(args).length > limits.exploreArgumentsMax ? shown(args) : args
}

function shown(value: Json): string {
  return toText(value).slice(0, limits.previewCharactersMax)
}
