/** A graph of tasks as a program: it issues the calls that are ready and binds results to arguments. */
import {
  AppError,
  atPointer,
  type DagTask,
  type Delivery,
  type ErrorData,
  type IssuedCall,
  isObject,
  type Json,
  limits,
  type Program,
  type Turn,
  toText,
} from '#model'

/** Refuses a graph with all its problems at once, before anything runs. */
export function checkDag(tasks: unknown): DagTask[] {
  const problems = dagProblems(tasks)
  if (problems.length === 0) return tasks as DagTask[]
  throw new AppError('PLAN_INVALID', `Cannot run the graph: ${problems.join('; ')}`, { problems })
}

function dagProblems(tasks: unknown): string[] {
  if (!Array.isArray(tasks) || tasks.length === 0) return ['"tasks" must be a list of at least one task']
  if (tasks.length > limits.planTasksMax)
    return [`it has ${tasks.length} tasks, at most ${limits.planTasksMax} are allowed`]
  const problems = tasks.flatMap((task, index) => taskProblems(task, index))
  if (problems.length > 0) return problems
  const list = tasks as DagTask[]
  const ids = new Set<string>()
  for (const { id } of list) {
    if (ids.has(id)) problems.push(`the id "${id}" stands twice`)
    ids.add(id)
  }
  for (const task of list) {
    for (const need of needsOf(task)) {
      if (!ids.has(need)) problems.push(`task "${task.id}" needs "${need}", which does not exist`)
    }
  }
  return problems.length > 0 ? problems : cycleProblems(list)
}

const laterFields = ['code', 'retry', 'timeoutMs', 'when', 'forEach'] as const

function taskProblems(task: unknown, index: number): string[] {
  if (!isObject(task)) return [`task ${index + 1} is not an object`]
  const { id, tool } = task
  if (typeof id !== 'string' || id === '' || id.length > limits.taskIdBytesMax) return [`task ${index + 1} has no id`]
  const problems: string[] = []
  if (typeof tool !== 'string' || !tool.includes(':'))
    problems.push(`task "${id}" names no tool in the form server:name`)
  if (task.arguments !== undefined && !isObject(task.arguments))
    problems.push(`the arguments of task "${id}" are no object`)
  if (task.dependsOn !== undefined && !isStringList(task.dependsOn))
    problems.push(`"dependsOn" of task "${id}" is no list of ids`)
  if (task.type !== undefined && task.type !== 'mcp_tool')
    problems.push(`task "${id}" is of type "${task.type}": only "mcp_tool" runs so far`)
  for (const field of laterFields) {
    if (task[field] !== undefined) problems.push(`task "${id}" uses "${field}", which is not supported yet`)
  }
  return problems
}

function isStringList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

function cycleProblems(tasks: DagTask[]): string[] {
  const open = new Map(tasks.map((task) => [task.id, needsOf(task)]))
  for (let removed = true; removed; ) {
    removed = false
    for (const [id, needs] of open) {
      if (needs.some((need) => open.has(need))) continue
      open.delete(id)
      removed = true
    }
  }
  return open.size === 0 ? [] : [`the tasks ${[...open.keys()].map((id) => `"${id}"`).join(', ')} wait for each other`]
}

/** What a task waits for: what it says, and what its arguments take values from. */
function needsOf(task: DagTask): string[] {
  const needs = new Set(task.dependsOn ?? [])
  collect(task.arguments ?? {}, needs)
  return [...needs]
}

const interpolation = /(\\?)\{\{([^{}/]+)((?:\/[^{}]*)?)\}\}/g

function collect(value: Json, needs: Set<string>): void {
  if (typeof value === 'string') {
    for (const [, escaped, id] of value.matchAll(interpolation)) if (escaped === '') needs.add(id!)
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, needs)
  } else if (isObject(value)) {
    if (Object.hasOwn(value, '$literal')) return
    if (typeof value.$from === 'string') needs.add(value.$from)
    else for (const item of Object.values(value)) collect(item as Json, needs)
  }
}

/** The arguments of a task with every binding replaced by the value it names. */
export function bind(value: Json, results: ReadonlyMap<string, Json>): Json {
  if (typeof value === 'string') return interpolate(value, results)
  if (Array.isArray(value)) return value.map((item) => bind(item, results))
  if (!isObject(value)) return value
  if (Object.hasOwn(value, '$literal')) return value.$literal as Json
  if (typeof value.$from === 'string')
    return taken(value.$from, typeof value.path === 'string' ? value.path : '', results)
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, bind(item as Json, results)]))
}

function taken(id: string, path: string, results: ReadonlyMap<string, Json>): Json {
  const value = atPointer(results.get(id), path)
  if (value !== undefined) return value as Json
  throw new AppError('PLAN_INVALID', `Cannot bind {"$from":"${id}","path":"${path}"}: the result has nothing there`, {
    task: id,
    path,
    result: toText(results.get(id) ?? null).slice(0, limits.previewCharactersMax),
  })
}

function interpolate(text: string, results: ReadonlyMap<string, Json>): string {
  return text.replace(interpolation, (whole, escaped: string, id: string, path: string) => {
    if (escaped !== '') return whole.slice(1)
    const value = taken(id, path, results)
    return typeof value === 'string' ? value : toText(value)
  })
}

/** A pure state machine: results in, calls out. Tasks are issued as soon as what they need is there. */
export function dagProgram(tasks: DagTask[]): Program {
  const results = new Map<string, Json>()
  const waiting = new Map(tasks.map((task) => [task.id, task]))
  const issued: string[] = []
  let over = false

  const ready = (): Turn => {
    const calls: IssuedCall[] = []
    for (const task of [...waiting.values()]) {
      if (!needsOf(task).every((need) => results.has(need))) continue
      waiting.delete(task.id)
      issued.push(task.id)
      calls.push({ tool: task.tool!, args: toText(bind(task.arguments ?? {}, results)), task: task.id })
    }
    if (results.size < tasks.length) return { calls, logs: [] }
    over = true
    return { calls, logs: [], end: { ok: true, value: toText(outcome(tasks, results)) } }
  }
  const failed = (error: ErrorData): Turn => {
    over = true
    return { calls: [], logs: [], end: { ok: false, error } }
  }
  const step = (move: () => Turn): Turn => {
    if (over) return { calls: [], logs: [] }
    try {
      return move()
    } catch (error) {
      if (error instanceof AppError) return failed(error.toJSON())
      throw error
    }
  }
  return {
    start: async () => step(ready),
    deliver: async ({ call, ok, text }: Delivery) =>
      step(() => {
        const task = issued[call - 1]!
        if (!ok) {
          const error = JSON.parse(text) as ErrorData
          return failed({ ...error, context: { ...error.context, task } })
        }
        results.set(task, JSON.parse(text))
        return ready()
      }),
    drop: () => {
      over = true
    },
  }
}

/** The results of the tasks that nothing depends on, by id; of exactly one, its result. */
function outcome(tasks: DagTask[], results: ReadonlyMap<string, Json>): Json {
  const needed = new Set(tasks.flatMap(needsOf))
  const last = tasks.filter((task) => !needed.has(task.id))
  if (last.length === 1) return results.get(last[0]!.id)!
  return Object.fromEntries(last.map((task) => [task.id, results.get(task.id)!]))
}
