/**
 * The graph that a run of a program amounts to, rebuilt from its record so that it can be executed:
 * a task for each call, what was handed on as it is as a binding, the rest as the values that were
 * recorded. A program that repeats or branches is no graph, and is said to be none.
 */
import { type DagTask, isObject, type Json, type JsonObject } from '#model'
import { flowsOfRun, type RunFlow, structureCached } from './flows-of-run.ts'
import { type Lesson, ownCalls } from './lesson.ts'
import { sequenceEdges } from './sequence.ts'

type RebuiltGraph =
  | { tasks: DagTask[] /** What was computed on the way and stands as its value. */; fixed: string[] }
  | { why: string; loops: number; branches: number }

export function rebuildGraph(lesson: Lesson): RebuiltGraph {
  const { plan } = lesson
  if (plan.kind === 'dag') return { tasks: plan.tasks, fixed: [] }
  if (plan.kind === 'agent') return { why: 'it is a session of the agent', loops: 0, branches: 0 }
  const structure = structureCached(plan.code)
  const nodes = structure.known ? structure.nodes : []
  const [loops, branches] = ['loop', 'branch'].map((kind) => nodes.filter((node) => node.kind === kind).length)
  if (!structure.known) return { why: structure.why, loops: 0, branches: 0 }
  if (loops! > 0 || branches! > 0)
    return { why: 'it repeats or branches: "execute --explore" shows its paths', loops: loops!, branches: branches! }
  return tasksOf(lesson)
}

function tasksOf(lesson: Lesson): RebuiltGraph {
  const calls = ownCalls(lesson).filter(({ program, ok }) => program === '' && ok)
  const flows = flowsOfRun(lesson)
  const before = Map.groupBy(sequenceEdges(calls), ({ to }) => to)
  const fixed: string[] = []
  const tasks = calls.map(({ id, tool, args }): DagTask => {
    const into = flows.filter(({ to }) => to.call === id)
    const bound = into.filter(({ how }) => how === 'read' || how === 'equal')
    for (const { to } of into.filter((one) => !bound.includes(one))) fixed.push(`${id} ${to.path}`)
    const needs = (before.get(id) ?? []).map(({ from }) => `c${from}`)
    const taken = [...new Set([...needs, ...into.map(({ from }) => `c${from.call}`)])].sort()
    const given = bind(args, '', bound) as JsonObject
    return { id: `c${id}`, tool, arguments: given, ...(taken.length === 0 ? {} : { dependsOn: taken }) }
  })
  return { tasks, fixed: [...new Set(fixed)] }
}

/** The recorded value, with a binding wherever a flow ends. */
function bind(value: Json, path: string, flows: readonly RunFlow[]): Json {
  const flow = flows.find(({ to }) => to.path === path)
  if (flow !== undefined) return { $from: `c${flow.from.call}`, path: flow.from.path }
  const isAbove = flows.some(({ to }) => to.path.startsWith(`${path}/`))
  if (!isAbove) return needsQuotes(value) ? { $literal: value } : value
  if (Array.isArray(value)) return value.map((item, at) => bind(item, `${path}/${at}`, flows))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, bind(member as Json, `${path}/${name}`, flows)]),
  )
}

/** What a graph would take for a binding, or for a text with one inside. */
const needsQuotes = (value: Json) => /\{\{|"\$(?:from|item|literal)"/.test(JSON.stringify(value))
