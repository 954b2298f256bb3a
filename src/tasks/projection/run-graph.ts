/**
 * A run as a mission with a task for each call, or for each task of its DAG: a pure fold of the
 * run's events, so that the same record always gives the same graph.
 */
import { type Event, limits, type RecordedBody, type Stored, timerTool, uuidOf } from '#model'
import type { GraphNode, MissionStatus, ProjectedLink, TaskStatus } from '#tasks/terms'

/** A task of a run's plan, with the ids of those that it waits for. */
export type PlannedTask = { id: string; title: string; needs: readonly string[] }

/**
 * What the fold takes from outside: members of events that stand as blobs, and what a plan says.
 */
export type RunSource = {
  value(member: Stored<unknown>): unknown
  plannedTasks(started: RecordedBody<'run.started'>): PlannedTask[]
}

type Work = { node: GraphNode; open: Set<string>; asking: Set<string>; failures: number }

/** A run as far as it was folded, and what has changed since that was last taken. */
export type RunGraph = {
  run: string
  home: string
  /** The number of the last event that is in it. */
  n: number
  mission: GraphNode | null
  /** By the id of the DAG's task, or of the call. */
  works: Map<string, Work>
  byCall: Map<string, { work: Work; tool: string; contentType?: string }>
  changed: { nodes: Map<string, GraphNode>; links: ProjectedLink[] }
}

export function newRunGraph(run: string, home: string): RunGraph {
  const changed = { nodes: new Map(), links: [] }
  return { run, home, n: 0, mission: null, works: new Map(), byCall: new Map(), changed }
}

/** What changed since the last time, each node whole. */
export function takeChanges(graph: RunGraph): { nodes: GraphNode[]; links: ProjectedLink[] } {
  const { nodes, links } = graph.changed
  graph.changed = { nodes: new Map(), links: [] }
  return { nodes: [...nodes.values()], links }
}

/**
 *   QUEUED ──issued──► IN_PROGRESS ◄──answered── PENDING_VALIDATION (approval asked)
 *                         │ resolved                └──resolved──┐
 *                         ▼                                      ▼
 *          DONE · FAILED · CANCELED; what is open when the run ends is CANCELED
 */
export function foldRun(graph: RunGraph, event: Event, source: RunSource): void {
  graph.n = event.n
  if (event.type === 'run.started') return begin(graph, event, source)
  if (graph.mission === null) return // a run that only explores or previews calls nothing
  switch (event.type) {
    case 'call.issued':
      return issue(graph, event, source)
    case 'call.sent':
      return move(graph, event.body.call, event.at, ({ open }) => open.add(event.body.call))
    case 'approval.asked':
      return move(graph, event.body.call, event.at, ({ asking }) => asking.add(event.body.call))
    case 'approval.answered':
      return move(graph, event.body.call, event.at, ({ asking }) => asking.delete(event.body.call))
    case 'call.resolved':
      return resolve(graph, event, source)
    case 'run.finished':
      return finish(graph, event)
    default:
      return
  }
}

function begin(graph: RunGraph, { at, body }: Event<'run.started'>, source: RunSource): void {
  if (body.mode !== 'run') return
  const name = shortened(body.intent || `Run ${graph.run.slice(0, 8)}`, limits.graphNameCharsMax)
  const properties = body.intent === null ? {} : { description: text(body.intent, limits.graphDescriptionCharsMax) }
  graph.mission = nodeOf(graph, { id: graph.run, kind: 'Mission', at, name, status: 'ACTIVE', properties })
  keep(graph, graph.mission)
  const planned = source.plannedTasks(body)
  for (const { id, title } of planned) addWork(graph, id, { at, name: id, description: title, status: 'QUEUED' })
  for (const { id, needs } of planned)
    for (const need of needs) {
      const [from, to] = [graph.works.get(id), graph.works.get(need)]
      if (from && to) graph.changed.links.push({ from: from.node.id, type: 'DEPENDS_ON', to: to.node.id, at })
    }
}

function issue(graph: RunGraph, { at, body }: Event<'call.issued'>, source: RunSource): void {
  const { call, tool, task } = body
  if (tool === timerTool) return
  const planned = task === undefined ? undefined : graph.works.get(task)
  const description = `Call ${call} of ${tool}`
  const work = planned ?? addWork(graph, call, { at, name: tool, description, status: 'IN_PROGRESS' })
  const consumed = consumedBy(tool, body.edited ?? body.args, source)
  const contentType = tool === storeTool ? contentTypeOf(body.edited ?? body.args, source) : {}
  graph.byCall.set(call, { work, tool, ...contentType })
  for (const to of consumed) graph.changed.links.push({ from: work.node.id, type: 'CONSUMES_ARTIFACT', to, at })
  move(graph, call, at, (it) => {
    if (it.failures > 0) it.failures-- // it is tried again
    it.open.add(call)
  })
}

function resolve(graph: RunGraph, { at, body }: Event<'call.resolved'>, source: RunSource): void {
  const { call, ok, outcome, error, value } = body
  const known = graph.byCall.get(call)
  if (known === undefined) return
  const { work, tool } = known
  move(graph, call, at, ({ open, asking }) => {
    open.delete(call)
    asking.delete(call)
    if (!ok) work.failures++
  })
  if (outcome === 'cancelled' && work.open.size === 0) setStatus(graph, work, 'CANCELED', at)
  if (error !== undefined) {
    const notes = text(`${error.code}: ${error.message}`, limits.graphDescriptionCharsMax)
    work.node = { ...work.node, properties: { ...work.node.properties, notes } }
    keep(graph, work.node)
  }
  if (!ok || value === undefined) return
  for (const artifact of producedBy(tool, value, known.contentType, source)) {
    const { id, ...properties } = artifact
    const name = properties.storagePath.slice(properties.storagePath.lastIndexOf('/') + 1)
    keep(graph, nodeOf(graph, { id, kind: 'Artifact', at, name, properties }))
    graph.changed.links.push({ from: work.node.id, type: 'PRODUCES_ARTIFACT', to: id, at })
  }
}

function finish(graph: RunGraph, { at, body }: Event<'run.finished'>): void {
  const ends = { done: 'DONE', failed: 'FAILED', cancelled: 'CANCELED' } as const satisfies Record<
    string,
    MissionStatus
  >
  graph.mission = { ...graph.mission!, status: ends[body.status], updatedAt: at }
  keep(graph, graph.mission)
  for (const work of graph.works.values())
    if (!isOver(work.node.status as TaskStatus)) setStatus(graph, work, 'CANCELED', at)
}

function isOver(status: TaskStatus): boolean {
  return status === 'DONE' || status === 'FAILED' || status === 'CANCELED'
}

type Beginning = { at: string; name: string; description: string; status: TaskStatus }

function addWork(graph: RunGraph, key: string, { at, name, description, status }: Beginning): Work {
  const { run } = graph
  const properties = { description: text(description, limits.graphDescriptionCharsMax), temporalWorkflowID: run }
  const id = uuidOf(`${run}/projected/${key}`)
  const short = shortened(name, limits.graphNameCharsMax)
  const node = nodeOf(graph, { id, kind: 'Task', at, name: short, status, missionID: run, properties })
  const work = { node, open: new Set<string>(), asking: new Set<string>(), failures: 0 }
  graph.works.set(key, work)
  keep(graph, node)
  graph.changed.links.push({ from: run, type: 'HAS_ROOT_TASK', to: id, at })
  return work
}

/** Changes the work that a call belongs to, whose status follows from its calls. */
function move(graph: RunGraph, call: string, at: string, act: (work: Work) => void): void {
  const work = graph.byCall.get(call)?.work
  if (work === undefined) return
  act(work)
  setStatus(graph, work, statusOf(work), at)
}

function statusOf({ open, asking, failures }: Work): TaskStatus {
  if (asking.size > 0) return 'PENDING_VALIDATION'
  if (open.size > 0) return 'IN_PROGRESS'
  return failures > 0 ? 'FAILED' : 'DONE'
}

function setStatus(graph: RunGraph, work: Work, status: TaskStatus, at: string): void {
  if (work.node.status === status) return
  work.node = { ...work.node, status, updatedAt: at }
  keep(graph, work.node)
}

function keep(graph: RunGraph, node: GraphNode): void {
  graph.changed.nodes.set(node.id, node)
}

type Parts = Omit<GraphNode, 'createdAt' | 'updatedAt' | 'run'> & { at: string }

function nodeOf({ run, home }: RunGraph, { at, properties, ...rest }: Parts): GraphNode {
  return { ...rest, run, createdAt: at, updatedAt: at, properties: { ...properties, homeID: home } }
}

const storeTool = 'metier:store_artifact'
const retrieveTool = 'metier:retrieve_artifact'
const scriptTool = 'metier:execute_script_in_sandbox'

type Produced = { id: string; contentType: string; storagePath: string; bytes: string; sha256: string }

function producedBy(
  tool: string,
  value: Stored<unknown>,
  contentType: string | undefined,
  source: RunSource,
): Produced[] {
  if (tool !== storeTool && tool !== scriptTool) return []
  const answer = source.value(value) as Record<string, unknown> | null
  const list = tool === storeTool ? [answer] : Array.isArray(answer?.artifacts) ? answer.artifacts : []
  return (list as (Record<string, unknown> | null)[]).flatMap((one) => {
    if (typeof one?.artifactID !== 'string' || typeof one.storagePath !== 'string') return []
    const { artifactID: id, storagePath, bytes, sha256 } = one as Record<string, string>
    const type = contentType ?? 'application/octet-stream'
    return [{ id: id!, contentType: type, storagePath: storagePath!, bytes: String(bytes), sha256: String(sha256) }]
  })
}

/** Ids of the artifacts that a call reads, by the paths in its arguments. */
function consumedBy(tool: string, args: Stored<unknown>, source: RunSource): string[] {
  if (tool !== retrieveTool && tool !== scriptTool) return []
  const given = source.value(args) as { storagePath?: unknown; config?: { inputArtifacts?: object } } | null
  const paths = tool === retrieveTool ? [given?.storagePath] : Object.keys(given?.config?.inputArtifacts ?? {})
  const ids = paths.map((path) => /^artifacts\/([0-9a-f-]{36})\//.exec(String(path))?.[1])
  return [...new Set(ids.filter((id) => id !== undefined))]
}

function contentTypeOf(args: Stored<unknown>, source: RunSource): { contentType?: string } {
  const { contentType } = (source.value(args) ?? {}) as { contentType?: unknown }
  return typeof contentType === 'string' ? { contentType } : {}
}

/** As the graph takes texts: bounded in code points, well-formed, without NUL. */
function text(value: string, charsMax: number): string {
  const clean = value.toWellFormed().replaceAll('\0', '\ufffd')
  const chars = [...clean.slice(0, 2 * charsMax)]
  return chars.length > charsMax || clean.length > 2 * charsMax ? chars.slice(0, charsMax).join('') : clean
}

function shortened(value: string, charsMax: number): string {
  const line = text(value.replace(/\s+/g, ' ').trim(), charsMax + 1)
  const chars = [...line]
  return chars.length > charsMax ? `${chars.slice(0, charsMax - 1).join('')}…` : line
}
