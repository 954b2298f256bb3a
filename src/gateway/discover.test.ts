/**
 * discover through the gateway, as a host calls it: the shape of an answer and its status, with
 * default settings.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '#model'
import { caller, openSpace, workspace } from '#test'
import { connect } from '#test/gateway'
import { serveHttp } from './gateway.ts'

type Answer = { status: string; results: JsonObject[]; unmatched: string[]; nearest: string[]; silent?: string[] }

async function gateway(t: TestContext, more: object = {}) {
  const space = workspace(t)
  const { mcpServers } = JSON.parse(readFileSync(space.file, 'utf8'))
  writeFileSync(space.file, JSON.stringify({ mcpServers: { ...mcpServers, ...more } }))
  const verbs = await openSpace(space)
  const served = await serveHttp({ verbs, host: '127.0.0.1', port: 0, version: '0', log: () => {} })
  t.after(() => served.close())
  const client = await connect(t, served, 'modern')
  await client.listTools()
  return async (input: object): Promise<Answer> => {
    const { structuredContent, content } = await client.callTool({ name: 'discover', arguments: { ...input } })
    assert.deepEqual(content, [{ type: 'text', text: JSON.stringify(structuredContent) }])
    return structuredContent as Answer
  }
}

test('discover through the door shows a ranking whatever its status, found, unsure and nothing_fits', async (t) => {
  const discover = await gateway(t)
  const found = await discover({ intent: 'add a number to a counter under a key' })
  assert.deepEqual([found.status, found.results[0]?.id, found.nearest], ['found', 'fx:add', []])
  assert(found.results.length > 3)
  const unsure = await discover({ intent: 'what amount of snow fell on the roof of the barn behind the castle' })
  assert.equal(unsure.status, 'unsure')
  assert.match(String(unsure.results[0]?.why), /against: /)
  const far = await discover({
    intent:
      'what number of bright stars has the distant spiral galaxy that patient astronomers photographed near the southern horizon with their brand-new telescope during autumn nights of terrible weather, freezing wind, sleepless volunteers and expensive coffee',
  })
  assert.equal(far.status, 'nothing_fits')
  assert.deepEqual(
    far.nearest,
    far.results.slice(0, 3).map(({ id }) => id),
  )
  assert(far.results.length > 0 && far.unmatched.includes('galaxy'))
  const none = await discover({ intent: 'translate Sanskrit poetry into whale song' })
  assert.deepEqual([none.status, none.results, none.nearest], ['nothing_fits', [], []])
})

test('discover through the door names the server that is still starting, and finds in the others', async (t) => {
  const late = { command: process.execPath, args: ['-e', 'setInterval(() => {}, 1000)'] }
  const discover = await gateway(t, { late })
  const { status, results, silent } = await discover({ intent: 'add a number to a counter' })
  assert.deepEqual([status, results[0]?.id, silent], ['found', 'fx:add', ['late']])
})

test('discover in a home without servers calls no built-in tool fit that shares a word by chance', async (t) => {
  const space = workspace(t)
  writeFileSync(space.file, '{}')
  const verbs = await openSpace(space)
  const statusOf = async (intent: string) => (await verbs.discover({ intent }, caller)).status
  for (const intent of [
    'show me what is inside package.json',
    'which files are in the downloads folder?',
    'which tables does the database have?',
    'compress this file',
    'what is the time now in New York?',
    'forget everything about Bob',
  ])
    assert.notEqual(await statusOf(intent), 'found', intent)
  assert.equal(await statusOf('start the python script train.py'), 'found')
  assert.equal(await statusOf('create a task under a mission'), 'found')
})
