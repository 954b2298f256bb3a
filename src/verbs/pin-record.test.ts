/** Pins that are read tool by tool are those that come of reading all of them. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { homeChain } from '#model'
import { openStore } from '#record'
import { dice, temporaryFolder } from '#test'
import { pinRecord } from './pin-record.ts'

/** Names that begin or end alike, and what has to be escaped in JSON or could be a pattern. */
const ids = ['s:a', 's:aa', 't:a', 's:"a', 's:\\', 's:é', 's:%', 's:_', 's:a/b', 's:😀', 's:a:b', "s:'"]
const types = ['tool.pinned', 'tool.changed', 'tool.accepted'] as const

test('pinRecord() answers of one tool what all events say of it, whatever tools and positions there are', async (t) => {
  for (let seed = 1; seed <= 5; seed++) {
    const next = dice(seed)
    const below = (count: number) => Math.floor(next() * count)
    const store = await openStore({ home: join(temporaryFolder(t), 'home') })
    const record = pinRecord(store)
    assert.equal(record.anchor(), null)
    for (let round = 0; round < 6; round++) {
      const events = Array.from({ length: 10 }, () => {
        const [tool, digest] = [ids[below(ids.length)]!, String(below(3))]
        const type = types[below(3)]!
        const diff = [{ field: '/description', after: `${tool} ${digest} "tool":"s:a"` }]
        return type === 'tool.accepted'
          ? { type, body: { tool, digest, who: 'ann' } }
          : { type, body: { tool, digest, diff } }
      })
      await record.append(events)
      const all = record.read(0)
      for (const id of [...ids, 's:none']) {
        const after = below(all.at(-1)!.n + 2)
        const expected = all.filter(({ body, n }) => body.tool === id && n > after)
        assert.deepEqual(record.readOf(id, after), expected, `seed ${seed}, ${id} after ${after}`)
      }
      const anchor = record.anchor()!
      assert.deepEqual([anchor.type, anchor.n], [all.at(-1)!.type, all.at(-1)!.n])
      assert(record.holds(anchor))
      assert(!record.holds({ ...anchor, n: anchor.n + 1 }))
      assert(!record.holds({ ...anchor, hash: '0'.repeat(64) }))
    }
    await store.close()
  }
})

test('pinsOf() finds the events of one tool by an index, also in a home of the format before', async (t) => {
  const home = join(temporaryFolder(t), 'home')
  const first = await openStore({ home })
  const body = { tool: 's:a', digest: '1', diff: [] }
  await first.appendHome('tool.pinned', body)
  await first.close()
  const database = new DatabaseSync(join(home, 'metier.db'))
  database.exec('DROP INDEX event_pin; PRAGMA user_version = 3')
  database.close()
  const store = await openStore({ home })
  assert.deepEqual(
    store.pinsOf('s:a', 0).map((event) => event.body),
    [body],
  )
  assert.equal(store.events(homeChain, { type: 'tool.pinned' }).length, 1)
  await store.close()
  const reopened = new DatabaseSync(join(home, 'metier.db'))
  const index = reopened.prepare(`SELECT sql FROM sqlite_schema WHERE name = 'event_pin'`).get()
  assert.match(String(index?.sql), /json_extract/)
  reopened.close()
})
