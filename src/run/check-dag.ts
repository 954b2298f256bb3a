/** Refuses a graph of tasks that cannot run, with all its problems at once, before anything runs. */
import { AppError, type DagTask, isObject, limits } from '#model'
import { sourcesOf } from './bind.ts'

export function checkDag(tasks: unknown): DagTask[] {
  const problems = problemsOf(tasks)
  if (problems.length === 0) return tasks as DagTask[]
  throw new AppError('PLAN_INVALID', `Cannot run the graph: ${problems.join('; ')}`, { problems })
}

/** What a task waits for: what it says, and what it takes values from. */
export function needsOf({ dependsOn = [], arguments: args = {}, when, forEach }: DagTask): string[] {
  const bound = [when, forEach].flatMap((binding) => (binding === undefined ? [] : [binding.$from]))
  return [...new Set([...dependsOn, ...bound, ...sourcesOf(args)])]
}

function problemsOf(tasks: unknown): string[] {
  if (!Array.isArray(tasks) || tasks.length === 0) return ['"tasks" must be a list of at least one task']
  if (tasks.length > limits.planTasksMax) {
    return [`it has ${tasks.length} tasks, at most ${limits.planTasksMax} are allowed`]
  }
  const problems = tasks.flatMap((task, index) => taskProblems(task, index))
  if (problems.length > 0) return problems
  const list = tasks as DagTask[]
  const unsound = [...twiceProblems(list), ...needProblems(list)]
  return unsound.length > 0 ? unsound : cycleProblems(list)
}

function taskProblems(task: unknown, index: number): string[] {
  if (!isObject(task)) return [`task ${index + 1} is not an object`]
  const { id } = task
  if (typeof id !== 'string' || id === '' || Buffer.byteLength(id) > limits.taskIdBytesMax) {
    return [`task ${index + 1} has no id of at most ${limits.taskIdBytesMax} bytes`]
  }
  return [...kindProblems(task), ...fieldProblems(task)].map((problem) => `task "${id}" ${problem}`)
}

function kindProblems({ type = 'mcp_tool', tool, code }: Record<string, unknown>): string[] {
  switch (type) {
    case 'mcp_tool':
    case 'capability':
      return typeof tool === 'string' && tool.includes(':') ? [] : ['names no tool in the form server:name']
    case 'code_execution':
      return typeof code === 'string' ? [] : ['has no code']
    default:
      return [`is of type ${JSON.stringify(type)}, which is none of mcp_tool, code_execution, capability`]
  }
}

type Rule = [field: string, isRight: (value: unknown) => boolean, expected: string]

const isCount = (value: unknown, most: number) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most

const rules: Rule[] = [
  ['arguments', isObject, 'an object'],
  ['dependsOn', (value) => Array.isArray(value) && value.every((id) => typeof id === 'string'), 'a list of ids'],
  ['sideEffects', (value) => typeof value === 'boolean', 'true or false'],
  ['timeoutMs', (value) => isCount(value, limits.taskTimeoutMsMax) && value !== 0, `1 to ${limits.taskTimeoutMsMax}`],
  ['retry', isRetry, `{ max: at most ${limits.taskRetriesMax}, backoffMs }`],
  ['when', isCondition, '{ $from, path?, equals? or exists? }'],
  ['forEach', isBinding, '{ $from, path }'],
]

function fieldProblems(task: Record<string, unknown>): string[] {
  return rules
    .filter(([field, isRight]) => task[field] !== undefined && !isRight(task[field]))
    .map(([field, , expected]) => `has a "${field}" that is not ${expected}`)
}

function isRetry(value: unknown): boolean {
  return (
    isObject(value) && isCount(value.max, limits.taskRetriesMax) && isCount(value.backoffMs ?? 0, limits.timerMsMax)
  )
}

function isBinding(value: unknown): boolean {
  return (
    isObject(value) && typeof value.$from === 'string' && (value.path === undefined || typeof value.path === 'string')
  )
}

function isCondition(value: unknown): boolean {
  if (!isBinding(value)) return false
  const { equals, exists } = value as Record<string, unknown>
  return (equals !== undefined) !== (exists !== undefined) && (exists === undefined || typeof exists === 'boolean')
}

function twiceProblems(tasks: DagTask[]): string[] {
  const ids = tasks.map(({ id }) => id)
  const twice = new Set(ids.filter((id, index) => ids.indexOf(id) !== index))
  return [...twice].map((id) => `the id "${id}" stands twice`)
}

function needProblems(tasks: DagTask[]): string[] {
  const ids = new Set(tasks.map(({ id }) => id))
  return tasks.flatMap((task) =>
    needsOf(task)
      .filter((need) => !ids.has(need))
      .map((need) => `task "${task.id}" needs "${need}", which does not exist`),
  )
}

/** Takes away what waits for nothing that is left, as long as there is such a task. */
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
