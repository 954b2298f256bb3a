/** Tests of suggestGraph(): fan-in and fan-out, bindings, what stays open. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject, Tool } from '#model'
import { suggestGraph } from './suggest-graph.ts'

function tool(id: string, inputs: string[]): Tool {
  const properties = Object.fromEntries(inputs.map((name) => [name, { type: 'string' }]))
  const input: JsonObject = { type: 'object', properties, required: inputs }
  const [server, name] = id.split(':') as [string, string]
  return {
    id,
    server,
    name,
    description: '',
    input,
    annotations: {},
    effect: 'read',
    effectFrom: 'default',
    digest: id,
  }
}

const seen = (from: string, to: string, fields: [string, string][]) => ({
  from,
  to,
  type: 'dependency',
  count: 3,
  fields: fields.map(([path, pointer]) => ({ from: path, to: pointer, count: 3 })),
})

test('suggestGraph() fans out and in along observed flows, and orders producers first', () => {
  const tools = [tool('mail:send', ['to', 'body']), tool('crm:find', ['name']), tool('doc:write', ['customer'])]
  const edges = [
    seen('crm:find', 'mail:send', [['/email', '/to']]),
    seen('crm:find', 'doc:write', [['/id', '/customer']]),
    seen('doc:write', 'mail:send', [['/text', '/body']]),
    seen('mail:send', 'crm:find', [['/id', '/name']]),
  ]
  const past = [{ intent: 'write to Ann', args: { name: 'Ann' } }]
  const { tasks, missing, dependencyPaths } = suggestGraph('write to Bob', tools, edges, (id) =>
    id === 'crm:find' ? past : [],
  )
  assert.deepEqual(tasks, [
    { id: 't1', tool: 'crm:find', arguments: { name: 'Bob' } },
    { id: 't2', tool: 'doc:write', arguments: { customer: { $from: 't1', path: '/id' } }, dependsOn: ['t1'] },
    {
      id: 't3',
      tool: 'mail:send',
      arguments: { to: { $from: 't1', path: '/email' }, body: { $from: 't2', path: '/text' } },
      dependsOn: ['t1', 't2'],
    },
  ])
  assert.deepEqual(missing, [])
  assert.equal(dependencyPaths.length, 3)
})

test('suggestGraph() names required arguments that nothing fills', () => {
  const { tasks, missing } = suggestGraph('do it', [tool('crm:find', ['name'])], [], () => [])
  assert.deepEqual([tasks[0]?.arguments, missing], [{}, ['t1.name']])
})
