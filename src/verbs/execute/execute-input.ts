/** The input of execute(), read field by field: the plan, and what narrows it. */
import { type Budget, isObject, type Json, limits, type PermissionSet, parseId, type RunId } from '#model'
import { type AskedPlan, type RunRequest, readMocks } from '#run'
import { invalid, missing, numberOf, objectOf, oneOf, optional, textOf } from '#verbs/input'

type ExecuteRequest = Omit<RunRequest, 'plan' | 'actor'> & {
  plan: AskedPlan | null
  resume: RunId | null
  waitMs: number | null
}

const fields = 'intent implementation args mode resume permissions budget wait key mocks maxBranches'.split(' ')
const budgetFields = ['calls', 'wallMs', 'bytes', 'tokens', 'cost', 'deadlineMs']

export function readInput(input: unknown, caller: { key?: string; waitMs?: number | null }): ExecuteRequest {
  const { intent, implementation, args, mode, resume, permissions, budget, wait, key, mocks, maxBranches } = objectOf(
    'input',
    input,
    fields,
  )
  const how = optional(mode, (value) => oneOf('mode', value, ['run', 'dry-run', 'explore']), 'run')
  if (intent === undefined && implementation === undefined && resume === undefined) {
    throw missing('implementation', 'give a program, a graph of tasks, or an intent to get a suggestion')
  }
  if (how === 'run' && isObject(mocks) && Object.keys(mocks).length > 0) {
    const details = 'in mode "run" everything is really called; give mode "dry-run" or "explore", or no mocks'
    throw invalid('mocks', details, mocks)
  }
  // Models fill what they have nothing to say about with an empty text: that names no request.
  const given = optional(key, (value) => textOf('key', value, limits.runKeyBytesMax), '')
  const name = given.trim() === '' ? caller.key : given
  return {
    intent: optional(intent, (value) => textOf('intent', value), null),
    plan: optional(implementation, readPlan, null),
    args: args ?? {},
    resume: optional(resume, (value) => parseId<RunId>('resume', value), null),
    waitMs: optional(wait, (value) => numberOf('wait', value, [0, 3600]) * 1000, caller.waitMs ?? null),
    ...(permissions === undefined ? {} : { permissions: readPermissions(permissions) }),
    ...(budget === undefined ? {} : { budget: readBudget(budget) }),
    ...(name === undefined ? {} : { key: name }),
    ...(how === 'run' ? {} : { mocks: optional(mocks, readMocks, {}) }),
    ...(how === 'explore' ? { maxBranches: readBranches(maxBranches) } : {}),
  }
}

function readPlan(value: Json): AskedPlan {
  const { type, code, tasks, dagStructure, id } = objectOf('implementation', value)
  switch (oneOf('implementation.type', type, ['code', 'dag', 'capability'])) {
    case 'code':
      if (code === undefined) throw missing('implementation.code', 'give the body of an async function')
      return { kind: 'code', code: textOf('implementation.code', code, limits.programBytesMax) }
    case 'dag': {
      const list = tasks ?? (isObject(dagStructure) ? dagStructure.tasks : undefined)
      if (list === undefined) throw missing('implementation.tasks', 'give the list of tasks')
      return { kind: 'dag', tasks: list as never }
    }
    case 'capability':
      if (id === undefined) throw missing('implementation.id', 'give the id of a capability, cap:name or cap:name@2')
      return { kind: 'capability', id: textOf('implementation.id', id) }
  }
}

function readBranches(value: Json | undefined): number {
  const read = (given: Json) => numberOf('maxBranches', given, [1, limits.exploreBranchesMax])
  return optional(value, read, limits.exploreBranchesDefault)
}

function readPermissions(value: Json): PermissionSet {
  return oneOf('permissions', value, ['minimal', 'standard', 'privileged'])
}

function readBudget(value: Json): Partial<Budget> {
  const { calls, wallMs, bytes, tokens, cost, deadlineMs } = objectOf('budget', value, budgetFields)
  const read = (name: string, member: Json) => numberOf(`budget.${name}`, member, [0, Number.MAX_SAFE_INTEGER])
  return {
    ...(calls === undefined ? {} : { calls: read('calls', calls) }),
    ...(wallMs === undefined ? {} : { wallMs: read('wallMs', wallMs) }),
    ...(bytes === undefined ? {} : { bytes: read('bytes', bytes) }),
    ...(tokens === undefined ? {} : { tokens: read('tokens', tokens) }),
    ...(cost === undefined ? {} : { cost: read('cost', cost) }),
    ...(deadlineMs === undefined ? {} : { deadlineMs: read('deadlineMs', deadlineMs) }),
  }
}
