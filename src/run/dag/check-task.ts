/** What one task of a graph must look like, whatever the others are. */
import { isObject, limits, operationOf } from '#model'

type Rule = [field: string, isRight: (value: unknown) => boolean, expected: string]

const isCount = (value: unknown, most: number) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= most

const rules: Rule[] = [
  ['arguments', isObject, 'an object'],
  ['dependsOn', (value) => Array.isArray(value) && value.every((id) => typeof id === 'string'), 'a list of ids'],
  ['sideEffects', (value) => typeof value === 'boolean', 'true or false'],
  ['whole', (value) => typeof value === 'boolean', 'true or false'],
  ['timeoutMs', (value) => isCount(value, limits.taskTimeoutMsMax) && value !== 0, `1 to ${limits.taskTimeoutMsMax}`],
  ['retry', isRetry, `{ max: at most ${limits.taskRetriesMax}, backoffMs }`],
  ['when', isCondition, '{ $from, path?, equals? or exists? }'],
  ['forEach', isBinding, '{ $from, path }'],
]

export function fieldProblems(task: Record<string, unknown>): string[] {
  const fields = rules
    .filter(([field, isRight]) => task[field] !== undefined && !isRight(task[field]))
    .map(([field, , expected]) => `has a "${field}" that is not ${expected}`)
  return [...kindProblems(task), ...nameProblems(task), ...fields]
}

const names = ['id', 'tool', 'type', 'code', ...rules.map(([field]) => field)]
const others: Record<string, string> = {
  args: 'arguments',
  params: 'arguments',
  input: 'arguments',
  needs: 'dependsOn',
}
const plain = (name: string) => name.toLowerCase().replaceAll(/[_-]/g, '')

/**
 * A member under another name than ours would say nothing: what is meant to wait would not. What is
 * no such name is a note.
 */
function nameProblems(task: Record<string, unknown>): string[] {
  return Object.keys(task).flatMap((name) => {
    if (names.includes(name)) return []
    const meant = others[name] ?? names.find((known) => plain(known) === plain(name))
    return meant === undefined ? [] : [`has a "${name}", which is called "${meant}"`]
  })
}

function kindProblems({ type, tool, code }: Record<string, unknown>): string[] {
  if (typeof tool === 'string' && tool.startsWith('code:')) return operationProblems(type, tool, code)
  switch (type ?? 'mcp_tool') {
    case 'mcp_tool':
    case 'capability':
      return typeof tool === 'string' && tool.includes(':') ? [] : ['names no tool in the form server:name']
    case 'code_execution':
      return typeof code === 'string' ? [] : ['has no code']
    default:
      return [`is of type ${JSON.stringify(type)}, which is none of mcp_tool, code_execution, capability`]
  }
}

/** A pure operation is code; where it takes no function, its own name is code enough. */
function operationProblems(type: unknown, tool: string, code: unknown): string[] {
  const operation = operationOf(tool)
  if (type !== undefined && type !== 'code_execution')
    return [`is of type ${JSON.stringify(type)}, but "${tool}" is code`]
  if (code !== undefined) return typeof code === 'string' ? [] : ['has a "code" that is not a text']
  if (operation === undefined) return [`names "${tool}", which is no pure operation, and has no code`]
  return operation.takesFunction ? [`has no code, which "${tool}" needs for its function`] : []
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
