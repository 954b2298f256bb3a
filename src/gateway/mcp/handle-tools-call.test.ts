/**
 * tools/call in either era: what is refused before anything is done, and that both say the same.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server'
import { openForms, readFormKey } from '#gateway/elicitation'
import { standIn } from '#test/gateway'
import { createSurfaceServer } from './surface-server.ts'

type Answer = { id?: number; error?: { code: number; message: string }; result?: { isError?: boolean } }

/** The answers of a legacy server to these requests, each an error's code or "result". */
async function answersTo(requests: { method: string; params?: unknown }[]): Promise<(number | string)[]> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const answers: Answer[] = []
  ours.onmessage = (message) => answers.push(message as Answer)
  await createSurfaceServer(standIn(), '1', openForms(readFormKey('')), 'legacy').connect(theirs)
  const send = (message: object) => ours.send({ jsonrpc: '2.0', ...message } as JSONRPCMessage)
  const clientInfo = { name: 'test', version: '1' }
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  await send({ id: 0, method: 'initialize', params: hello })
  for (const [at, request] of requests.entries()) await send({ id: at + 1, ...request })
  while (answers.length <= requests.length) await new Promise(setImmediate)
  const byId = answers.toSorted((left, right) => left.id! - right.id!)
  return byId.slice(1).map(({ error }) => error?.code ?? 'result')
}

test('handleToolsCall() refuses a call of the legacy era that is none, and what is no call', async () => {
  const call = (params: unknown) => ({ method: 'tools/call', params })
  const answers = await answersTo([
    call({ name: 'discover', arguments: { intent: 'x' } }),
    call({ name: 'discover', arguments: ['x'] }),
    call({ name: 7 }),
    call({}),
    call({ name: 'nobody has this' }),
    { method: 'prompts/list' },
    { method: 'no/such/method' },
    { method: 'tools/list' },
  ])
  const [invalidParams, methodNotFound] = [-32602, -32601]
  const refused = [invalidParams, invalidParams, invalidParams, invalidParams]
  assert.deepEqual(answers, ['result', ...refused, methodNotFound, methodNotFound, 'result'])
})
