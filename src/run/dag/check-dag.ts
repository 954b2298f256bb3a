/**
 * Refuses a graph of tasks that cannot run, with all its problems at once, before anything runs.
 */
import { AppError, type DagTask, isObject, limits } from '#model'
import { boundsOf, sourcesOf } from './bind.ts'
import { fieldProblems } from './check-task.ts'

export function checkDag(tasks: unknown): DagTask[] {
  const { problems, sound } = lookAt(tasks)
  if (problems.length > 0) throw planInvalid(problems)
  return sound
}

export function planInvalid(problems: string[]): AppError {
  const shown = problems.slice(0, limits.planProblemsMax)
  const more = problems.length > shown.length ? [`and ${problems.length - shown.length} more`] : []
  return new AppError('PLAN_INVALID', `Cannot run the graph: ${[...shown, ...more].join('; ')}`, { problems: shown })
}

/** What a task waits for: what it says, and what it takes values from. */
export function needsOf({ dependsOn = [], arguments: args = {}, when, forEach }: DagTask): string[] {
  const bound = [when, forEach].flatMap((binding) => (binding === undefined ? [] : [binding.$from]))
  return [...new Set([...dependsOn, ...bound, ...sourcesOf(args)])]
}

/**
 * Tasks that are wrong in themselves are left out of what is said about the graph: only their ids
 * count there.
 */
export function lookAt(tasks: unknown): { problems: string[]; sound: DagTask[] } {
  const none = (problem: string) => ({ problems: [problem], sound: [] })
  if (!Array.isArray(tasks) || tasks.length === 0) return none('"tasks" must be a list of at least one task')
  if (tasks.length > limits.planTasksMax) {
    return none(`it has ${tasks.length} tasks, at most ${limits.planTasksMax} are allowed`)
  }
  const each = tasks.map((task, index) => taskProblems(task, index))
  const sound = tasks.filter((_, index) => each[index]!.length === 0) as DagTask[]
  const ids: string[] = tasks.flatMap((task) => (typeof task?.id === 'string' ? [task.id] : []))
  const ofGraph = [...twiceProblems(ids), ...needProblems(sound, new Set(ids)), ...cycleProblems(sound)]
  return { problems: [...each.flat(), ...ofGraph], sound }
}

function taskProblems(task: unknown, index: number): string[] {
  if (!isObject(task)) return [`task ${index + 1} is not an object`]
  const { id } = task
  if (typeof id !== 'string' || id === '' || Buffer.byteLength(id) > limits.taskIdBytesMax) {
    return [`task ${index + 1} has no id of at most ${limits.taskIdBytesMax} bytes`]
  }
  const fields = fieldProblems(task)
  return [...fields, ...(fields.length > 0 ? [] : bindingProblems(task as DagTask))].map(
    (problem) => `task "${id}" ${problem}`,
  )
}

/** What can be said of a binding without knowing what it takes. */
function bindingProblems({ arguments: args = {}, when, forEach }: DagTask): string[] {
  const bounds = boundsOf(args)
  const paths = [...bounds, when, forEach].flatMap((binding) => binding?.path ?? [])
  const wrong = new Set(paths.filter((path) => path !== '' && !path.startsWith('/')))
  const items = forEach === undefined && bounds.some(({ $from }) => $from === undefined)
  return [
    ...[...wrong].map((path) => `has the path "${path}", which is no JSON Pointer; it begins with "/"`),
    ...(items ? ['takes an "$item" without a "forEach"'] : []),
  ]
}

function twiceProblems(ids: string[]): string[] {
  const seen = new Set<string>()
  const twice = new Set(ids.filter((id) => seen.size === seen.add(id).size))
  return [...twice].map((id) => `the id "${id}" stands twice`)
}

function needProblems(tasks: DagTask[], ids: Set<string>): string[] {
  return tasks.flatMap((task) =>
    needsOf(task)
      .filter((need) => !ids.has(need))
      .map((need) => `task "${task.id}" needs "${need}", which does not exist${hintOf(task, need)}`),
  )
}

/** Two braces in a text may be meant as such. */
function hintOf({ arguments: args = {} }: DagTask, need: string): string {
  const isText = boundsOf(args).some(({ $from, isText: inText }) => inText && $from === need)
  return isText ? ' (braces that are meant as such are written \\{{)' : ''
}

/**
 * Takes away what waits for nothing that is left, then what nothing that is left waits for: what
 * remains goes in circles.
 */
function cycleProblems(tasks: DagTask[]): string[] {
  const needs = new Map(tasks.map((task) => [task.id, needsOf(task)]))
  const wanted = new Map<string, string[]>(tasks.map(({ id }) => [id, []]))
  for (const [id, sources] of needs) for (const source of sources) wanted.get(source)?.push(id)
  const left = new Set(needs.keys())
  peel(left, needs, wanted)
  peel(left, wanted, needs)
  return left.size === 0 ? [] : [`the tasks ${[...left].map((id) => `"${id}"`).join(', ')} wait for each other`]
}

/** Removes every id that points to none that is left; `back` tells whom that may free. */
function peel(left: Set<string>, to: Map<string, string[]>, back: Map<string, string[]>): void {
  const count = (id: string) => to.get(id)!.filter((other) => left.has(other)).length
  const open = new Map([...left].map((id) => [id, count(id)]))
  const free = [...left].filter((id) => open.get(id) === 0)
  for (let id = free.pop(); id !== undefined; id = free.pop()) {
    left.delete(id)
    for (const other of back.get(id) ?? []) {
      if (!left.has(other)) continue
      open.set(other, open.get(other)! - 1)
      if (open.get(other) === 0) free.push(other)
    }
  }
}
