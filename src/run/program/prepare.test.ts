/** A plan made ready, for a new run and for one that goes on. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Journal } from '#run/record'
import { openBoxes } from '#sandbox'
import { prepare, preparedFor } from './prepare.ts'

const boxes = openBoxes()
after(() => boxes.close())

test('preparedFor() says aloud that a run goes on under another engine than it started with', async () => {
  const { engine, isolation } = await prepare({ kind: 'code', code: 'return 1' }, boxes)
  const journalOf = (digest: string) => {
    const started = { plan: { kind: 'code', source: 'return 1' }, engine: { ...engine, digest } }
    return { started } as unknown as Journal
  }
  assert.deepEqual((await preparedFor(journalOf(engine.digest), boxes)).isolation, isolation)
  const other = await preparedFor(journalOf('f'.repeat(64)), boxes)
  assert.equal(other.engine.digest, engine.digest)
  const before = `${engine.name} ${engine.version} (ffffffffffff)`
  const said = `the run started with ${before} and goes on with ${engine.name} ${engine.version} (${engine.digest.slice(0, 12)})`
  assert(other.isolation?.degraded.at(-1)?.startsWith(said), other.isolation?.degraded.join())
})
