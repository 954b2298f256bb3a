/**
 * The host over stdio that does not keep to the protocol: each message gets an answer that says so,
 * and none of the others is lost.
 */
import assert from 'node:assert/strict'
import { PassThrough, Writable } from 'node:stream'
import { test } from 'node:test'
import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { type JsonObject, limits } from '#model'
import { StdioTransport } from './stdio-transport.ts'

/**
 * A wire whose host reads when it is let; `heard` are the messages that came through, `told` the
 * lines that went back.
 */
async function open({ reads = true } = {}) {
  const input = new PassThrough()
  const told: JsonObject[] = []
  let read = () => {}
  const output = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      told.push(JSON.parse(String(chunk)))
      if (reads) done()
      else read = done
    },
  })
  const wire = new StdioTransport(input, output)
  const heard: JSONRPCMessage[] = []
  wire.onmessage = (message) => void heard.push(message)
  await wire.start()
  const say = async (...messages: unknown[]) => {
    for (const message of messages) input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const catchUp = async () => {
    reads = true
    read()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const idsHeard = () => heard.map((message) => ('id' in message ? message.id : undefined))
  const refusals = () => told.map(({ id, error }) => [id, (error as JsonObject | undefined)?.code])
  return { wire, input, heard, told, say, catchUp, idsHeard, refusals }
}

const call = (id: unknown, args: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'x', ...args },
})
const answer = (id: number) => ({ jsonrpc: '2.0' as const, id, result: {} })

test('StdioTransport answers what is no message with an error, with its id where it has one, and hears the rest', async () => {
  const { say, idsHeard, refusals } = await open()
  await say('not json', '{"jsonrpc":"2.0"}', '5', 'null', '[]', '', '\r', call(null), call({}), call(true), call(1.5))
  await say(
    { jsonrpc: '1.0', id: 8, method: 'ping' },
    { jsonrpc: '2.0', id: 9, method: 7 },
    call(''),
    call('x'),
    call(-1),
  )
  assert.deepEqual(refusals(), [
    [null, -32700],
    ...Array.from({ length: 7 }, () => [null, -32600]),
    [1.5, -32600],
    [8, -32600],
    [9, -32600],
  ])
  assert.deepEqual(idsHeard(), ['', 'x', -1])
})

test('StdioTransport takes several messages in one line, of the legacy era, for several', async () => {
  const { say, idsHeard, refusals } = await open()
  await say([call(1), { nonsense: true }, call(2)])
  assert.deepEqual([idsHeard(), refusals()], [[1, 2], [[null, -32600]]])
})

test('StdioTransport refuses a message that is too long or too deep by its own id, and reads on', async () => {
  const { say, idsHeard, refusals } = await open()
  const long = { name: 'x'.repeat(limits.stdioMessageBytesMax) }
  const { id: _, ...rest } = call(0, long)
  await say(
    call(1, long),
    { ...rest, id: 'two' },
    { id: 3, ...rest },
    { method: 'm', id: 4, params: { id: 5, ...long } },
  )
  const deep = JSON.stringify(call(6, { arguments: 'HERE' })).replace('"HERE"', `${'['.repeat(1e5)}${']'.repeat(1e5)}`)
  await say(deep, call(7))
  assert.deepEqual(refusals(), [
    [1, -32600],
    ['two', -32600],
    [3, -32600],
    [null, -32600],
    [6, -32600],
  ])
  assert.deepEqual(idsHeard(), [7])
})

test('StdioTransport takes an id once at a time: after its answer, or after it was cancelled, it is free', async () => {
  const { wire, say, idsHeard, refusals } = await open()
  await say(call(7), call(7), call('7'))
  assert.deepEqual([idsHeard(), refusals()], [[7, '7'], [[null, -32600]]])
  await wire.send(answer(7))
  await say(call(7), { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }, call(7))
  assert.deepEqual(idsHeard(), [7, '7', 7, undefined, 7])
})

test('StdioTransport refuses what is one request too many', async () => {
  const { say, heard, refusals } = await open()
  for (let id = 0; id <= limits.stdioRequestsMax; id += 1000)
    await say(Array.from({ length: 1000 }, (_, more) => call(id + more)))
  assert.equal(heard.length, limits.stdioRequestsMax)
  assert.deepEqual(refusals()[0], [limits.stdioRequestsMax, -32000])
})

test('StdioTransport neither reads on nor tells of progress while its host reads nothing, and then goes on', async () => {
  const { wire, input, say, told, catchUp, idsHeard } = await open({ reads: false })
  const large = 'x'.repeat(limits.stdioUnreadBytesMax + 1)
  const sent = wire.send({ jsonrpc: '2.0', id: 1, result: { large } })
  await wire.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })
  const second = wire.send(answer(2))
  await say(call(3))
  assert.deepEqual([input.isPaused(), idsHeard(), told.length], [true, [], 1])
  await catchUp()
  await Promise.all([sent, second])
  await say(call(4))
  assert.deepEqual(
    [idsHeard(), told.map(({ id }) => id)],
    [
      [3, 4],
      [1, 2],
    ],
  )
})

test('StdioTransport closes once, when its host does, and says nothing more', async () => {
  const { wire, input } = await open()
  let closed = 0
  wire.onclose = () => void closed++
  input.end()
  await new Promise((resolve) => setTimeout(resolve, 20))
  await wire.close()
  assert.equal(closed, 1)
  await assert.rejects(wire.send(answer(1)), /closed/)
})
