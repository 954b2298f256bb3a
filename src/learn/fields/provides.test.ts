/** Edges from schemas: which fields correspond, and how much of the needs they cover. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { coverageOf, providesOf } from './provides.ts'
import { shapeOf } from './tool-shape.ts'

const object = (properties: Record<string, unknown>, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
})
const text = (description: string) => ({ type: 'string', description })

const find = shapeOf({
  id: 'shop:find_order',
  name: 'find_order',
  description: 'Find an order of a customer',
  input: object({ customer_name: text('name of the customer') }, ['customer_name']),
  output: object({ order_id: text('id of the order'), status: text('status of the order') }),
})
const refund = shapeOf({
  id: 'shop:refund_order',
  name: 'refund_order',
  description: 'Refund an order',
  input: object({ order_id: text('id of the order to refund'), reason: text('why it is refunded') }, [
    'order_id',
    'reason',
  ]),
  output: object({ refund_id: text('id of the refund') }),
})

test('providesOf() finds the producer with its fields, in whatever order the tools are given', () => {
  for (const shapes of [
    [find, refund],
    [refund, find],
  ]) {
    const edges = providesOf(shapes).map(({ from, to, coverage, fields }) => [
      from,
      to,
      coverage,
      fields.map((one) => [one.from, one.to]),
    ])
    assert.deepEqual(edges, [['shop:find_order', 'shop:refund_order', 'partial', [['order_id', 'order_id']]]])
  }
})

test('providesOf() closes no circle and feeds no input twice', () => {
  const loop = (id: string, from: string, to: string) =>
    shapeOf({ id, name: id, input: object({ [from]: text('') }, [from]), output: object({ [to]: text('') }) })
  const edges = providesOf([loop('a', 'x_token', 'y_token'), loop('b', 'y_token', 'x_token')])
  assert.ok(edges.length <= 1)
})

test('coverageOf() is strict for all required inputs, partial for some, optional for none', () => {
  const shape = { ...refund, inputs: [...refund.inputs, { ...refund.inputs[0]!, name: 'note', required: false }] }
  const of = (...names: string[]) =>
    coverageOf(
      shape,
      names.map((to) => ({ to })),
    )
  assert.deepEqual([of('order_id', 'reason'), of('reason', 'note'), of('note')], ['strict', 'partial', 'optional'])
  assert.equal(coverageOf({ ...shape, inputs: shape.inputs.slice(2) }, [{ to: 'note' }]), 'optional')
})

test('shapeOf() reads lists by their items, and takes what was observed where no schema says it', () => {
  const items = { type: 'array', items: object({ id: { type: 'integer' } }) }
  const fields = (tool: object) =>
    shapeOf({ id: 'a:b', name: 'b', ...tool }).outputs.map(({ name, type }) => [name, type])
  assert.deepEqual(fields({ output: items }), [['id', 'number']])
  assert.deepEqual(fields({ observed: object({ ok: { type: ['null', 'boolean'] } }) }), [['ok', 'boolean']])
  assert.deepEqual(fields({ output: 'nonsense' }), [])
})
