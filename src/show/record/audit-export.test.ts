/** An exported run, as a person asks for it and a stranger checks it. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { metier, workspace } from '#test'

test('audit export writes a run that tar unpacks and that node and python3 verify', async (t) => {
  const space = workspace(t)
  const code = `await mcp.fx.put({ key: 'k', value: 'v' }); return 'x'.repeat(100_000)`
  const { json } = await metier(space, ['execute', 'x', '--code', '-', '--json'], { input: code })
  const file = join(space.folder, 'run.tar.gz')
  const done = await metier(space, ['audit', 'export', json.run, '-o', file, '--json'])
  assert.equal(done.code, 0, done.stderr)
  assert.deepEqual(
    [done.json.run, done.json.complete, done.json.status, done.json.file],
    [json.run, true, 'done', file],
  )
  const folder = join(space.folder, 'unpacked')
  mkdirSync(folder)
  execFileSync('tar', ['-xzf', file, '-C', folder])
  const shown = await metier(space, ['audit', 'show', json.run, '--json'])
  assert.equal(readFileSync(join(folder, 'events.jsonl'), 'utf8'), shown.stdout)
  for (const [command, program] of [
    [process.execPath, 'verify.mjs'],
    ['python3', 'verify.py'],
  ] as const) {
    const says = execFileSync(command, [join(folder, program)], { encoding: 'utf8' })
    assert.match(says, new RegExp(`^ok: run ${json.run}, ${done.json.count} events, done\\nhead ${done.json.head}\\n`))
  }
  const again = join(space.folder, 'again.tar.gz')
  const said = await metier(space, ['audit', 'export', json.run, '-o', again])
  assert.match(said.stdout, /^Wrote .*again\.tar\.gz: \d+ events, done, signed with key [0-9a-f]{64}\./)
  assert.deepEqual(readFileSync(again), readFileSync(file))
})

test('audit export says that a run is not finished, and refuses what it cannot vouch for', async (t) => {
  const space = workspace(t, { config: { policy: { rules: [{ tool: 'fx:put', then: 'ask' }] } } })
  const input = `await mcp.fx.put({ key: 'k', value: 'v' }); return 1`
  const { json } = await metier(space, ['execute', 'x', '--code', '-', '--json'], { input })
  assert.equal(json.status, 'approval_required')
  const file = join(space.folder, 'run.tar.gz')
  const open = await metier(space, ['audit', 'export', json.run, '-o', file])
  assert.deepEqual([open.code, existsSync(file)], [0, true])
  assert.match(open.stderr, /The run is not finished \(approval_required\)/)
  assert.match(open.stdout, /not finished, signed/)

  assert.equal((await metier(space, ['audit', 'export', json.run])).code, 2)
  const unknown = await metier(space, ['audit', 'export', '0192f0c1-2345-7abc-8def-0123456789ab', '-o', file, '--json'])
  assert.deepEqual([unknown.code, unknown.json.error.code], [1, 'RUN_NOT_FOUND'])
  const database = new DatabaseSync(join(space.home, 'metier.db'))
  database.exec('DELETE FROM approval')
  database.close()
  const none = join(space.folder, 'none.tar.gz')
  const broken = await metier(space, ['audit', 'export', json.run, '-o', none, '--json'])
  assert.deepEqual([broken.code, broken.json.error.code, existsSync(none)], [7, 'LEDGER_BROKEN', false])
})
