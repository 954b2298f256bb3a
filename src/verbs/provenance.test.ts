/** Where the arguments of a call come from, as an approval shows it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '#model'
import { caller, openSpace, workspace } from '#test'

const asking = { config: { policy: { permissions: 'standard', rules: [] } } }
type AskedCall = { id: string; call: string; tool: string; from: JsonObject[] | null }

const byPath = ({ from }: AskedCall) => Object.fromEntries((from ?? []).map(({ path, ...rest }) => [path, rest]))

test('execute() tells of each argument of a call that is asked about where it came from', async (t) => {
  const verbs = await openSpace(workspace(t, asking))
  await verbs.execute(
    {
      implementation: {
        type: 'dag',
        tasks: [{ id: 'p', tool: 'fx:put', arguments: { key: 'acct', value: { id: 'account-77', n: 3 } } }],
      },
    },
    caller,
  )
  const asked = async (code: string, args: Json = {}) => {
    const answer = await verbs.execute({ implementation: { type: 'code', code }, args }, caller)
    assert.equal(answer.status, 'approval_required', JSON.stringify(answer))
    const [approval] = answer.approvals as AskedCall[]
    const listed = verbs.approvals().find(({ id }) => id === approval!.id)
    assert.deepEqual(listed?.from, approval!.from, 'approvals tells the same')
    return byPath(approval!)
  }
  const read = `const r = await mcp.fx.read({ key: 'acct' });\n`
  const table: [code: string, args: Json, expected: JsonObject][] = [
    [
      `${read}await mcp.fx.add({ key: r.value.id, by: r.value.n, ms: 5 })`,
      {},
      {
        '/key': { source: 'call', call: '1', resultPath: '/value/id' },
        '/by': { source: 'call', call: '1', resultPath: '/value/n' },
        '/ms': { source: 'literal', line: 2 },
      },
    ],
    [
      `await mcp.fx.add({ key: args.to.key, by: args.list[1] })`,
      { to: { key: 'a' }, list: [1, 2] },
      { '/key': { source: 'args', resultPath: '/to/key' }, '/by': { source: 'args', resultPath: '/list/1' } },
    ],
    [
      `${read}await mcp.fx.add({ key: 'to-' + r.value.id, by: args.n + 1 })`,
      { n: 1 },
      {
        '/key': { source: 'call', call: '1', resultPath: '/value/id', computed: true },
        '/by': { source: 'args', resultPath: '/n', computed: true },
      },
    ],
    [
      `${read}const call = { key: r.value.id + '!', by: args.n * 2 };\ncall.ms = 0;\nawait mcp.fx.add(call)`,
      { n: 1 },
      {
        '/key': { source: 'call', call: '1', resultPath: '/value/id', computed: true },
        '/by': { source: 'args', resultPath: '/n', computed: true },
        '/ms': { source: 'literal', line: 3 },
      },
    ],
    [
      `${read}const add = (call) => mcp.fx.add({ ms: 1, ...r.value, ...call });\nawait add({ key: args.key, by: 2 + 2 })`,
      { key: 'x' },
      {
        '/ms': { source: 'literal', line: 2 },
        '/id': { source: 'call', call: '1', resultPath: '/value/id' },
        '/n': { source: 'call', call: '1', resultPath: '/value/n' },
        '/key': { source: 'args', resultPath: '/key' },
        '/by': { source: 'literal', line: 3, computed: true },
      },
    ],
    [
      `${read}const hidden = Object.values(r.value); await tool('fx:' + args.t, { key: hidden[0], by: 1 })`,
      { t: 'add' },
      { '/key': { source: 'call', call: '1', resultPath: '/value/id' }, '/by': { source: 'literal', line: 2 } },
    ],
    [
      `${read}await mcp.fx.add({ key: JSON.parse(JSON.stringify(r)).value.id, by: 1 })`,
      {},
      { '/key': { source: 'call', call: '1', resultPath: '/value/id' }, '/by': { source: 'literal', line: 2 } },
    ],
    [
      `${read}if (args.never) await mcp.fx.add({ key: 'acct', by: 1 });\nawait mcp.fx.add({ key: r.key, by: 1 })`,
      {},
      { '/key': { source: 'call', call: '1', resultPath: '/key' }, '/by': { source: 'literal', line: 2 } },
    ],
    [
      `for (const one of args.list) await mcp.fx.add({ key: one.key, by: 1 })`,
      { list: [{ key: 'a' }] },
      { '/key': { source: 'args', resultPath: '/list/0/key' }, '/by': { source: 'literal', line: 1 } },
    ],
    [
      `const keys = await Promise.all(['acct', 'none'].map((key) => mcp.fx.read({ key }))); await mcp.fx.add({ key: keys[0].value.id, by: 1 })`,
      {},
      { '/key': { source: 'call', call: '1', resultPath: '/value/id' }, '/by': { source: 'literal', line: 1 } },
    ],
  ]
  for (const [code, args, expected] of table) assert.deepEqual(await asked(code, args), expected, code)
})

test('execute() tells the same of a graph, of its programs, and after a resume', async (t) => {
  const space = workspace(t, asking)
  const verbs = await openSpace(space)
  const tasks = [
    { id: 'r', tool: 'fx:read', arguments: { key: 'k' } },
    { id: 'a', tool: 'fx:add', arguments: { key: { $from: 'r', path: '/key' }, by: 2 } },
    { id: 'b', tool: 'fx:add', arguments: { key: 'is {{r/key}}', by: 2 } },
    {
      id: 'c',
      type: 'code_execution',
      code: 'return await mcp.fx.add({ key: args.key, by: 3 })',
      arguments: { key: { $from: 'r', path: '/key' } },
    },
  ]
  const answer = await verbs.execute({ implementation: { type: 'dag', tasks } }, caller)
  const of = (list: Json) => (list as unknown as AskedCall[]).map((one) => [one.call, byPath(one)])
  const expected = [
    ['2', { '/key': { source: 'call', call: '1', resultPath: '/key' }, '/by': { source: 'literal' } }],
    ['3', { '/key': { source: 'call', call: '1', resultPath: '/key', computed: true }, '/by': { source: 'literal' } }],
    ['4.1', { '/key': { source: 'args', resultPath: '/key' }, '/by': { source: 'literal', line: 1 } }],
  ]
  assert.deepEqual(of(answer.approvals!), expected)
  const code = `const r = await mcp.fx.read({ key: 'one' }); await mcp.fx.add({ key: r.key, by: 1 }); await mcp.fx.add({ key: r.key, by: 2 })`
  const first = await verbs.execute({ implementation: { type: 'code', code } }, caller)
  const [one] = first.approvals as AskedCall[]
  const next = await verbs.decide(one!.id, { answer: 'approved' }, caller, true)
  const from = { '/key': { source: 'call', call: '1', resultPath: '/key' }, '/by': { source: 'literal', line: 1 } }
  assert.deepEqual(of(next.approvals!), [['3', from]])
})
