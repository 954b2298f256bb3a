/** discover() as an agent meets it: what it may send, and what it is told of servers that say nothing. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { AppError } from '#model'
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
