/**
 * Holds a graph against the tools that it names: what is certainly wrong with its arguments and
 * bindings is told before anything runs.
 */
import { type Catalog, definiteProblems } from '#catalog'
import { type DagTask, isCapability, type Json, type JsonObject, type Tool, toAppError } from '#model'
import { type Bound, boundsOf, isOperation, lookAt, operationCode, planInvalid, sketch } from '#run/dag'
import { conflictOf, itemsOf, lacks, type Spot, spotAt } from '#run/schema'
import { prepareProgram } from '#sandbox'
import { asTool, type CallableCapability } from './capability-calls.ts'

type Tools = ReadonlyMap<string, Tool>
/** Throws why a capability cannot be called. */
type Resolve = (id: string) => CallableCapability
type ToolSource = Pick<Catalog, 'tool' | 'forAgents' | 'near' | 'problemOfServer'>

/**
 * Throws PLAN_INVALID with everything that is wrong: in the graph, with its programs, and with the
 * tools as they are now.
 */
export async function checkPlan(tasks: unknown, catalog: ToolSource, resolve: Resolve): Promise<void> {
  const { problems, sound } = lookAt(tasks)
  if (!isSingleCall(sound)) {
    const tools = await toolsOf(sound, catalog)
    for (const task of sound) {
      problems.push(
        ...programProblems(task),
        ...(isCapabilityTask(task) ? capabilityProblems(task, resolve) : toolProblems(task, tools, catalog)),
        ...flowProblems(task, sound, tools),
      )
    }
  }
  if (problems.length > 0) throw planInvalid(problems)
}

/**
 * One call with its arguments as they stand: it is judged as it is made, on the record, like a call
 * of a program.
 */
function isSingleCall(tasks: DagTask[]): boolean {
  return tasks.length === 1 && Object.hasOwn(tasks[0]!.arguments ?? {}, '$literal')
}

function toolNamed({ type = 'mcp_tool', tool = '' }: DagTask): string | null {
  return type === 'mcp_tool' && !tool.startsWith('code:') && !isCapability(tool) ? tool : null
}

/** The tools as agents see them: the problems of a plan are reported to its author. */
async function toolsOf(tasks: DagTask[], catalog: ToolSource): Promise<Tools> {
  const ids = [...new Set(tasks.flatMap((task) => toolNamed(task) ?? []))]
  const found = await Promise.all(ids.map(async (id) => [id, await catalog.tool(id)] as const))
  return new Map(found.flatMap(([id, tool]) => (tool === undefined ? [] : [[id, catalog.forAgents(tool)]])))
}

function programProblems(task: DagTask): string[] {
  if (task.type !== 'code_execution' && !isOperation(task)) return []
  try {
    prepareProgram(isOperation(task) ? operationCode(task) : task.code!)
    return []
  } catch (error) {
    return [`task "${task.id}": ${(error as Error).message}`]
  }
}

/** A server that cannot be asked just now may have the tool: that is for the run to find out. */
function toolProblems(task: DagTask, tools: Tools, catalog: ToolSource): string[] {
  const id = toolNamed(task)
  if (id === null) return []
  const tool = tools.get(id)
  if (tool !== undefined) return argumentProblems(task, tool)
  if (catalog.problemOfServer(id) !== null) return []
  const near = catalog.near(id)
  const hint = near.length === 0 ? 'discover finds what there is' : `did you mean ${near.join(' or ')}?`
  return [`task "${task.id}" names "${id}": there is no such tool; ${hint}`]
}

function isCapabilityTask({ type, tool = '' }: DagTask): boolean {
  return type === 'capability' || (type !== 'code_execution' && isCapability(tool))
}

function capabilityProblems(task: DagTask, resolve: Resolve): string[] {
  try {
    const { id, parametersSchema } = resolve(task.tool!)
    return argumentProblems(task, asTool(id, parametersSchema))
  } catch (error) {
    return [`task "${task.id}": ${toAppError(error).message}`]
  }
}

function argumentProblems({ id, arguments: args = {} }: DagTask, tool: Tool): string[] {
  const bounds = boundsOf(args)
  const open = {
    anything: bounds.filter(({ isText }) => !isText).map(({ at }) => at),
    texts: bounds.filter(({ isText }) => isText).map(({ at }) => at),
  }
  return definiteProblems(tool, sketch(args), open).map(({ message }) => `task "${id}": ${message}`)
}

/** What a binding takes, against what the other side declares to give. */
function flowProblems(task: DagTask, tasks: DagTask[], tools: Tools): string[] {
  const { forEach, arguments: args = {} } = task
  const given = (from: string, path: string) => spotAt(outputOf(from, tasks, tools), path)
  const list = forEach === undefined ? null : given(forEach.$from, forEach.path ?? '')
  const items = list === null ? null : itemsOf(list)
  const input = tools.get(toolNamed(task) ?? '')?.input
  const wrong = boundsOf(args).flatMap((bound) => {
    const source = bound.$from === undefined ? spotBelow(items, bound.path) : given(bound.$from, bound.path)
    return boundProblem(bound, source, input).map((problem) => `task "${task.id}" takes ${said(bound)} ${problem}`)
  })
  const noList = list === null ? null : conflictOf(list, { schema: { type: 'array' }, root: {} })
  return [...(noList === null ? [] : [`task "${task.id}" cannot run for each item: ${noList}`]), ...wrong]
}

function boundProblem(bound: Bound, source: Spot | null, input: JsonObject | undefined): string[] {
  if (source === null) return []
  if (lacks(source)) return ['that its source never has']
  if (bound.isText || input === undefined) return []
  const conflict = conflictOf(source, spotAt({ schema: input, root: input }, bound.at))
  return conflict === null ? [] : [`for "${bound.at.slice(1)}": ${conflict}`]
}

function said({ $from, path, isText }: Bound): string {
  if (isText) return `{{${$from}${path}}}`
  return JSON.stringify($from === undefined ? { $item: path } : { $from, path })
}

function spotBelow(spot: Spot | null, path: string): Spot | null {
  return spot === null ? null : spotAt(spot, path)
}

/** Only what a tool declares binds it; what it was seen to give may change. */
function outputOf(id: string, tasks: DagTask[], tools: Tools): Spot {
  const task = tasks.find((candidate) => candidate.id === id)
  const output: Json = tools.get(task === undefined ? '' : (toolNamed(task) ?? ''))?.output ?? {}
  if (task?.forEach === undefined) return { schema: output, root: output }
  return { schema: { type: 'array', items: output }, root: output }
}
