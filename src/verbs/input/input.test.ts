/**
 * What an agent sends to the three verbs: a field with a slip in its name is refused, since what it
 * was to narrow would not be narrowed.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AppError } from '#model'
import { caller, openSpace, workspace } from '#test'

test('discover(), execute() and result() refuse a field that nobody reads, and name those that there are', async (t) => {
  const verbs = await openSpace(workspace(t))
  t.after(() => verbs.close())
  const code = { type: 'code', code: 'return 1' }
  const table: [verb: 'discover' | 'execute' | 'result', input: object, param: string, says: RegExp][] = [
    ['discover', { intent: 'x', limt: 3 }, 'input', /no field "limt"; there are intent, filter, limit, schemas/],
    ['discover', { intent: 'x', filter: { efect: 'read' } }, 'filter', /no field "efect"; there are .*effect/],
    [
      'discover',
      { intent: 'x', filter: { effect: 'reads' } },
      'filter.effect',
      /one of read, idempotent, keyed, unsafe/,
    ],
    ['discover', { intent: 'x', filter: { server: 'nobody' } }, 'filter.server', /one of fx/],
    ['execute', { implementation: code, permisions: 'minimal' }, 'input', /no field "permisions"; .*permissions/],
    ['execute', { implementation: code, budget: { cals: 0 } }, 'budget', /no field "cals"; there are calls/],
    ['result', { run: 'x', page: 2 }, 'input', /no field "page"; there are run, call, path/],
  ]
  for (const [verb, input, param, says] of table) {
    await assert.rejects(
      async () => verbs[verb](input, caller),
      (error: AppError) => {
        assert.deepEqual([error.code, error.context.param], ['INVALID_INPUT_PARAM', param])
        assert.match(error.message, says)
        return Array.isArray(error.context.allowed_values)
      },
    )
  }
  assert.deepEqual(verbs.runs(), [], 'nothing was run with more rights than were asked for')
  const keyed = await verbs.discover({ intent: 'pay', filter: { effect: 'keyed:key' }, schemas: undefined }, caller)
  assert.equal(keyed.status, 'nothing_fits')
})
