/** Questions of servers to clients that do not answer them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ServerContext } from '@modelcontextprotocol/server'
import { type JsonObject, limits } from '#model'
import { InputExchanges } from './input-exchange.ts'

/** A request of the modern era, with what it brings. */
function request(state?: unknown, inputResponses: JsonObject = {}): ServerContext {
  return { mcpReq: { envelope: {}, requestState: () => state, inputResponses } } as unknown as ServerContext
}

test('InputExchanges: where too many wait for an answer, the one that has waited longest goes on without, and whoever comes is served', async () => {
  const exchanges = new InputExchanges()
  const refused: number[] = []
  const begin = (number: number) =>
    exchanges.take(request(), { number }, async ({ ask }) => {
      const question = { method: 'elicitation/create', params: {} } as const
      const answer = await ask(question, 'q').catch(() => void refused.push(number))
      return { answer: answer ?? 'none' }
    })
  const first: JsonObject[] = []
  for (let number = 0; number < limits.exchangesMax + 2; number++) first.push(await begin(number))
  assert.deepEqual(new Set(first.map(({ resultType }) => resultType)), new Set(['input_required']))
  assert.deepEqual(refused, [0, 1])
  const plain = await exchanges.take(request(), { number: -1 }, async () => ({ plain: true }))
  assert.deepEqual([plain, refused.length], [{ plain: true }, 2])
  const go = (number: number) =>
    exchanges.take(request(first[number]!.requestState, { q: { action: 'accept' } }), { number }, async () => ({}))
  await assert.rejects(go(0), /the requestState is unknown/)
  assert.deepEqual(await go(limits.exchangesMax), { answer: { action: 'accept' } })
  exchanges.close()
})
