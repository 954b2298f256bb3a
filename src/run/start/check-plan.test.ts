/**
 * A graph against the tools that it names: everything certainly wrong at once, and nothing that
 * might be right.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError, type DagTask, type JsonObject, operations, type Tool } from '#model'
import { noCapabilities } from './capability-calls.ts'
import { checkPlan } from './check-plan.ts'

const object = (properties: JsonObject, required = Object.keys(properties), more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required,
  ...more,
})

const tool = (id: string, input: JsonObject, output?: JsonObject): [string, Tool] => {
  const [server, name] = id.split(':') as [string, string]
  const base = { id, server, name, description: '', annotations: {}, digest: `digest of ${id}` }
  return [id, { ...base, input, ...(output === undefined ? {} : { output }), effect: 'read', effectFrom: 'default' }]
}

const text = { type: 'string' }
const whole = { type: 'integer' }
const user = object({ id: text, age: whole, tags: { type: 'array', items: text } }, ['id'], {
  additionalProperties: false,
})

const tools = new Map([
  tool('db:user', object({ id: text }), user),
  tool('db:users', object({}), {
    type: 'object',
    properties: { list: { type: 'array', items: { $ref: '#/$defs/u' } } },
    $defs: { u: user },
  }),
  tool('db:free', object({ id: text })),
  tool('db:add', object({ by: { type: 'number' }, note: text, level: { enum: ['low', 'high'] } }, ['by'])),
  tool('db:strict', object({ a: text }, [], { additionalProperties: false })),
  tool('db:either', { type: 'object', anyOf: [object({ a: text }), object({ b: whole })] }),
])

const unreachable = new AppError('UPSTREAM_UNREACHABLE', 'Cannot reach "far"', {})
const catalog = {
  tool: async (id: string) => tools.get(id),
  forAgents: (tool: Tool) => tool,
  near: () => [],
  problemOfServer: (id: string) => (id.startsWith('far:') ? unreachable : null),
}

async function problems(tasks: unknown): Promise<string[]> {
  const error: unknown = await checkPlan(tasks, catalog, (id) =>
    noCapabilities.resolve(id, { kind: 'cli', name: 'test' }),
  ).then(
    () => null,
    (thrown) => thrown,
  )
  if (error === null) return []
  assert.ok(error instanceof AppError && error.code === 'PLAN_INVALID', String(error))
  return error.context.problems as string[]
}

const of = ($from: string, path = '') => ({ $from, path })
const get: DagTask = { id: 'u', tool: 'db:user', arguments: { id: 'x' } }
const all: DagTask = { id: 'all', tool: 'db:users' }

test('checkPlan() tells every problem of a graph at once', async () => {
  const found = await problems([
    { id: 'a', tool: 'db:nothing' },
    { id: 'b', tool: 'db:user' },
    { id: 'b', tool: 'db:user', arguments: { id: 5 } },
    { id: 'c', tool: 'db:free', arguments: { id: of('gone') } },
    { id: 'd', tool: 'db:free', arguments: { id: of('e') } },
    { id: 'e', tool: 'db:free', arguments: { id: '{{d}}' } },
    { id: 'f', type: 'code_execution', code: 'return (' },
    { id: 'g', tool: 'db:user', arguments: { id: 'x' }, when: { $from: 'a' }, forEach: 1 },
    { id: 'h', tool: 'db:free', arguments: { id: of('a', 'x') } },
    { id: 'i', type: 'capability', tool: 'cap:weekly' },
    { id: 'after', tool: 'db:user', arguments: { id: 'x' }, dependsOn: ['d'] },
    7,
  ])
  const expected = [
    /"g" has a "when" that is not/,
    /"g" has a "forEach" that is not/,
    /"h" has the path "x", which is no JSON Pointer/,
    /task 12 is not an object/,
    /the id "b" stands twice/,
    /"c" needs "gone", which does not exist/,
    /the tasks "d", "e" wait for each other/,
    /"a" names "db:nothing": there is no such tool/,
    /"b": Cannot call "db:user": "id" is missing/,
    /"b": Cannot call "db:user": "id" must be string/,
    /"f": Cannot read the program/,
    /"i": Cannot call "cap:weekly": no capability was learned yet/,
  ]
  for (const pattern of expected)
    assert.ok(
      found.some((problem) => pattern.test(problem)),
      `${pattern} in ${found.join('\n')}`,
    )
  assert.equal(found.length, expected.length, found.join('\n'))
})

test('checkPlan() refuses a value that can never be what it is bound to', async () => {
  const table: [DagTask[], RegExp][] = [
    [[get, { id: 'x', tool: 'db:add', arguments: { by: of('u', '/id') } }], /"by": it is string, but must be number/],
    [[get, { id: 'x', tool: 'db:free', arguments: { id: of('u', '/age') } }], /"id": it is number, but must be string/],
    [[get, { id: 'x', tool: 'db:free', arguments: { id: of('u') } }], /"id": it is object/],
    [[get, { id: 'x', tool: 'db:free', arguments: { id: of('u', '/name') } }], /that its source never has/],
    [
      [get, { id: 'x', tool: 'db:free', arguments: { id: 'is {{u/name}}' } }],
      /\{\{u\/name\}\} that its source never has/,
    ],
    [
      [get, { id: 'x', tool: 'db:free', arguments: { id: 'y' }, forEach: of('u', '/id') }],
      /for each item: it is string/,
    ],
    [
      [get, { id: 'x', tool: 'db:add', arguments: { by: { $item: '' } }, forEach: of('u', '/tags') }],
      /"by": it is string/,
    ],
    [
      [all, { id: 'x', tool: 'db:add', arguments: { by: { $item: '/id' } }, forEach: of('all', '/list') }],
      /"by": it is string/,
    ],
    [[get, { id: 'x', tool: 'db:free', arguments: { id: { $item: '/id' } } }], /takes an "\$item" without a "forEach"/],
    [
      [get, { id: 'x', tool: 'db:add', arguments: { by: of('u', '/age'), level: 'mid' } }],
      /"level" must be "low" \| "high"/,
    ],
    [[get, { id: 'x', tool: 'db:add', arguments: { by: 'so {{u/id}}' } }], /"by" must be number/],
    [[get, { id: 'x', tool: 'db:strict', arguments: { b: of('u', '/id') } }], /"b" is not a parameter/],
    [[get, { id: 'x', tool: 'db:add', arguments: { note: of('u', '/id') } }], /"by" is missing/],
  ]
  for (const [tasks, pattern] of table) {
    const found = await problems(tasks)
    assert.equal(found.length, 1, `${JSON.stringify(tasks[1])}: ${found.join('\n') || 'nothing'}`)
    assert.match(found[0]!, pattern)
  }
})

test('checkPlan() refuses nothing that might be right', async () => {
  const right: DagTask[][] = [
    [get, { id: 'x', tool: 'db:add', arguments: { by: of('u', '/age') } }],
    [get, { id: 'x', tool: 'db:free', arguments: { id: of('u', '/tags/0') } }],
    [
      { id: 'f', tool: 'db:free', arguments: { id: 'q' } },
      { id: 'x', tool: 'db:add', arguments: { by: of('f', '/n') } },
    ],
    [get, { id: 'x', tool: 'db:either', arguments: { b: of('u', '/age') } }],
    [get, { id: 'x', tool: 'db:either', arguments: { a: 'is {{u/id}}' } }],
    [get, { id: 'x', tool: 'db:add', arguments: { by: 1, level: of('u', '/id') } }],
    [get, { id: 'x', tool: 'db:add', arguments: { by: 1, level: '{{u/id}}' } }],
    [{ id: 'x', tool: 'far:away', arguments: { anything: 1 } }],
    [get, { id: 'x', type: 'code_execution', code: 'return args.n + 1', arguments: { n: of('u', '/id') } }],
    [get, { id: 'x', tool: 'db:free', arguments: { id: { $literal: '{{gone}}' } } }],
    [get, { id: 'x', tool: 'db:free', arguments: { id: '\\{{gone}}' } }],
    [{ id: 'call', tool: 'db:user', arguments: { $literal: { id: 5 } } }],
  ]
  for (const tasks of right) assert.deepEqual(await problems(tasks), [], JSON.stringify(tasks.at(-1)))
})

test('checkPlan() knows the pure operations: those that take a function need code, none is of another type', async () => {
  const task = (more: object) => problems([{ id: 'op', arguments: { input: [1] }, ...more }])
  for (const { id, takesFunction } of operations)
    assert.equal((await task({ tool: id })).length, takesFunction ? 1 : 0, id)
  assert.deepEqual(await task({ tool: 'code:filter', code: 'args.input.filter((n) => n > 1)' }), [])
  assert.deepEqual(await task({ tool: 'code:own', code: 'const n = 1; return n' }), [])
  assert.match((await task({ tool: 'code:own' })).join(), /no pure operation/)
  assert.match((await task({ tool: 'code:filter', code: 'a b' })).join(), /Cannot read the program/)
  assert.match((await task({ tool: 'code:trim', type: 'mcp_tool' })).join(), /is code/)
})
