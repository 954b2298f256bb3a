/**
 * discover() as an agent meets it: what it may send, and what it is told of servers that say
 * nothing.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type AppError, type JsonObject, limits } from '#model'
import { caller, openSpace, workspace } from '#test'

test('discover() names the servers that could not be asked, and says nothing of them where there are none', async (t) => {
  const lost = { command: 'no-such-command' }
  const { mcpServers } = JSON.parse(readFileSync(workspace(t).file, 'utf8'))
  const verbs = await openSpace(workspace(t, { config: { mcpServers: { ...mcpServers, lost } } }))
  t.after(() => verbs.close())
  const answer = await verbs.discover({ intent: 'book a flight' }, caller)
  assert.deepEqual([answer.status, answer.silent], ['nothing_fits', ['lost']])
  const asked = await verbs.discover({ intent: 'fx:add', filter: { server: 'fx' } }, caller)
  assert.deepEqual([asked.status, 'silent' in asked], ['found', false])
})

test('discover() takes null for nothing, and refuses a score that none has and what is neither yes nor no', async (t) => {
  const verbs = await openSpace(workspace(t))
  t.after(() => verbs.close())
  const nothing = { type: null, server: null, effect: null, minScore: null }
  const plain = await verbs.discover({ intent: 'add' }, caller)
  assert.deepEqual(await verbs.discover({ intent: 'add', filter: nothing, limit: null, schemas: null }, caller), plain)
  const table: [input: object, param: string][] = [
    [{ filter: { minScore: 7 } }, 'filter.minScore'],
    [{ filter: { minScore: -1 } }, 'filter.minScore'],
    [{ filter: { minScore: '0.5' } }, 'filter.minScore'],
    [{ schemas: 'yes' }, 'schemas'],
  ]
  for (const [input, param] of table) {
    await assert.rejects(
      verbs.discover({ intent: 'add', ...input }, caller),
      (error: AppError) => error.code === 'INVALID_INPUT_PARAM' && error.context.param === param,
    )
  }
})

test('discover() answers the whole ranking up to the limit, brief below the cut, and cuts off only by minScore', async (t) => {
  const verbs = await openSpace(workspace(t))
  t.after(() => verbs.close())
  const look = async (input: object) =>
    (await verbs.discover({ intent: 'add a number to a counter under a key', ...input }, caller)) as {
      status: string
      results: JsonObject[]
    }
  const { status, results } = await look({})
  assert.equal(status, 'found')
  assert(results.length > 4, `${results.length} tools share a word with it`)
  assert.deepEqual(
    results.slice(0, 3).map((result) => ['brief' in result, ...Object.keys(result).slice(0, 6)]),
    Array(3).fill([false, 'type', 'id', 'score', 'why', 'description', 'input']),
  )
  for (const { description, output } of results.slice(1, 3)) {
    assert(String(description).length <= limits.discoverOtherCharactersMax, 'cut, unlike that of the first')
    assert.equal(output, undefined)
  }
  const whole = (await look({ schemas: true })).results.slice(1, 3)
  assert(
    whole.some(({ output }) => output !== undefined),
    'what is left out is there when schemas are asked for',
  )
  const brief = results.filter((result) => result.brief === true)
  assert(brief.length > 0)
  for (const result of brief) {
    assert.deepEqual(Object.keys(result), ['type', 'id', 'score', 'brief', 'description'])
    assert(String(result.description).length <= limits.discoverBriefCharactersMax)
    assert.doesNotMatch(String(result.description), /[.!?] \S/, 'one sentence')
  }
  assert.deepEqual((await look({ limit: 2 })).results, results.slice(0, 2))
  const least = Number(results[1]!.score)
  assert.deepEqual((await look({ filter: { minScore: least } })).results, results.slice(0, 2))
  const order = results.map(({ id }) => id)
  assert.deepEqual(
    (await look({ filter: { minScore: 0 } })).results.map(({ id }) => id),
    order,
  )
})
