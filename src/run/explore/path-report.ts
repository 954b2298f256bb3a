/**
 * Reports the paths of a plan: each with the reasons why a run takes it, and all of them merged
 * into one graph.
 */
import { type ErrorData, type Json, type JsonObject, limits, toText } from '#model'
import type { StructureNode } from '#run/structure'
import type { Assumptions, PathRun, PathStep } from './run-path.ts'

type Path = {
  calls: { tool: string; args: Json; task?: string }[]
  because: string[]
  /** With these a dry run takes this path. */
  mocks: JsonObject
  result?: Json
  /** The start of a result that is too large for the report. */
  preview?: string
  bytes?: number
  error?: ErrorData
}

export type GraphNode = { id: string; kind: 'start' | 'calls' | 'branch' | 'end'; label: string; line?: number }
export type GraphEdge = { from: string; to: string; label?: string; paths: number[] }
type Graph = { nodes: GraphNode[]; edges: GraphEdge[] }

/**
 * `uncovered` names the arms that no path took. `isWhole` is false where there is one, or where the
 * bounds ended the search.
 */
export type Exploration = { paths: Path[]; graph: Graph; uncovered: string[]; isWhole: boolean }

export type PathReport = { path: Path; visits: { node: GraphNode; out?: string }[] }
type ExploredPlan = { args: Json; structureOf(code: string | null): StructureNode[] }

export function pathReport(plan: ExploredPlan, { steps, calls, end }: PathRun, assumed: Assumptions): PathReport {
  const codes = new Map(calls.flatMap(({ id, code }) => (code === undefined ? [] : [[id, code] as const])))
  const nodeOf = (program: string, id: string) =>
    plan.structureOf(codes.get(program) ?? null).find((node) => node.id === id)
  const path: Path = {
    calls: calls.map(({ tool, args, task }) => ({
      tool,
      args: clipped(args),
      ...(task === undefined ? {} : { task }),
    })),
    because: [...assumptions(plan, assumed, calls), ...steps.flatMap((step) => reason(step, nodeOf))],
    mocks: mocksOf(plan, assumed),
    ...(end.ok ? resultOf(end.value) : { error: withoutColumn(end.error) }),
  }
  return { path, visits: [...visitsOf(steps, nodeOf), { node: endNode(path) }] }
}

function resultOf(text: string): Pick<Path, 'result' | 'preview' | 'bytes'> {
  if (text.length <= limits.exploreResultMax) return { result: JSON.parse(text) as Json }
  return { preview: text.slice(0, limits.previewCharactersMax), bytes: Buffer.byteLength(text) }
}

/** Instrumentation shifts columns, not lines: of a position only the line is right. */
function withoutColumn(error: ErrorData): ErrorData {
  const { column: _, stack: __, ...context } = error.context
  return { ...error, message: error.message.replace(/ \(line (\d+), column \d+\)/, ' (line $1)'), context }
}

type NodeOf = (program: string, id: string) => StructureNode | undefined

function assumptions({ args }: ExploredPlan, assumed: Assumptions, calls: PathRun['calls']): string[] {
  const reasons = toText(assumed.args) === toText(args) ? [] : [`args are ${shown(assumed.args)}`]
  for (const [id, answer] of assumed.calls) {
    const tool = calls.find((call) => call.id === id)?.tool ?? ''
    reasons.push(`call ${id} (${tool}) ${'value' in answer ? `answers ${shown(answer.value)}` : 'fails'}`)
  }
  return reasons
}

function reason(step: PathStep, nodeOf: NodeOf): string[] {
  if (!('arm' in step)) return []
  const node = nodeOf(step.arm.program, step.arm.id)
  const found = node === undefined ? null : reasonFor(node, step.arm.arm)
  return found === null ? [] : [found]
}

/** Why a path takes this arm, in words; null of a node without arms. */
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

function mocksOf({ args }: ExploredPlan, assumed: Assumptions): JsonObject {
  const calls = [...assumed.calls].map(([id, answer]) => [
    id,
    'value' in answer ? answer.value : { error: answer.failure },
  ])
  const changedArgs = toText(assumed.args) === toText(args) ? {} : { args: assumed.args as JsonObject }
  return { ...changedArgs, ...(calls.length === 0 ? {} : { calls: Object.fromEntries(calls) as JsonObject }) }
}

function visitsOf(steps: PathStep[], nodeOf: NodeOf): PathReport['visits'] {
  const times = new Map<string, number>()
  return steps.flatMap((step): PathReport['visits'] => {
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

export function reportOf(reports: PathReport[], uncovered: string[], isWhole: boolean): Exploration {
  const start: GraphNode = { id: 'start', kind: 'start', label: 'start' }
  const nodes = new Map([[start.id, start]])
  const edges = new Map<string, GraphEdge>()
  for (const [index, { visits }] of reports.entries()) {
    let [from, out]: [string, string | undefined] = [start.id, undefined]
    for (const visit of visits) {
      nodes.set(visit.node.id, visit.node)
      const key = toText([from, visit.node.id, out])
      const edge = edges.get(key) ?? {
        from,
        to: visit.node.id,
        ...(out === undefined ? {} : { label: out }),
        paths: [],
      }
      edge.paths.push(index + 1)
      edges.set(key, edge)
      ;[from, out] = [visit.node.id, visit.out]
    }
  }
  return {
    paths: reports.map(({ path }) => path),
    graph: { nodes: [...nodes.values()], edges: [...edges.values()] },
    uncovered,
    isWhole: isWhole && uncovered.length === 0,
  }
}

/** Larger arguments are cut to a preview, so that the path stays readable. */
function clipped(args: Json): Json {
  return toText(args).length > limits.exploreArgumentsMax ? shown(args) : args
}

function shown(value: Json): string {
  return toText(value).slice(0, limits.previewCharactersMax)
}
