/**
 * The catalogue's client against the conformance suite: what it must do as a client of either era.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '#test'
import { missing, type Revision, runSuite, unjustified } from './suite.ts'

const revisions: Revision[] = ['2026-07-28', '2025-11-25']

for (const revision of revisions) {
  test(`the client conforms to ${revision}, but for what is named and justified`, { skip: missing }, async (t) => {
    assert.deepEqual(unjustified(revision), [], 'every expected failure says why')
    const command = `${process.execPath} ${join(import.meta.dirname, 'client.ts')}`
    const { code, output, counts } = await runSuite(
      'client',
      revision,
      ['--command', command, '--timeout', '120000'],
      temporaryFolder(t),
    )
    t.diagnostic(`counted: client ${revision}: ${counts}`)
    assert.equal(code, 0, output)
  })
}
