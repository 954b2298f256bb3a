/**
 * Chains are read backwards: where the links do not lead to every event, no reader goes on as if
 * they did.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { finishSample, keeper, openSample } from '#test'

test('events() refuses a chain whose links do not lead to every event', async (t) => {
  const breaks = [
    'UPDATE event SET previous = previous - 1 WHERE n = 4 AND run = ?',
    'UPDATE event SET previous = seq WHERE n = 4 AND run = ?',
    'DELETE FROM event WHERE n = 3 AND run = ?',
    'UPDATE run SET seq = 999 WHERE run = ?',
  ]
  for (const change of breaks) {
    const store = await openSample(t)
    const run = await finishSample(store)
    const database = new DatabaseSync(join(store.home, 'metier.db'), { timeout: 5000 })
    database.exec('DROP TRIGGER event_stays; DROP TRIGGER event_remains')
    database.prepare(change).run(run)
    database.close()
    assert.throws(() => store.events(run), { code: 'LEDGER_BROKEN' }, change)
    assert.throws(() => store.lines(run, { after: 2 }), { code: 'LEDGER_BROKEN' }, change)
    await assert.rejects(store.purge(run, keeper), { code: 'LEDGER_BROKEN' }, change)
  }
})
