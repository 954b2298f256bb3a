/** The list of runs as scripts and people narrow it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '#show'
import { metier, workspace } from '#test'
import { age, filterOf } from './runs-command.ts'

test('runs narrows by status, time, tool, server, mode and number, and marks what called nothing', async (t) => {
  const space = workspace(t)
  const execute = (intent: string, code: string, ...more: string[]) =>
    metier(space, ['execute', intent, '--code', '-', ...more], { input: code })
  await execute('reads', `return await mcp.fx.read({ key: 'a' })`)
  await execute('breaks', `throw new Error('no')`)
  await execute('pretends', `return await mcp.fx.put({ key: 'a', value: 1 })`, '--dry-run')
  const listed = async (...options: string[]) => {
    const { json, code, stderr } = await metier(space, ['runs', '--json', ...options])
    assert.equal(code, 0, stderr)
    return (json as { intent: string; mode: string }[]).map(({ intent, mode }) => `${intent} ${mode}`)
  }
  assert.deepEqual(await listed(), ['pretends dry-run', 'breaks run', 'reads run'])
  assert.deepEqual(await listed('--limit', '2'), ['pretends dry-run', 'breaks run'])
  assert.deepEqual(await listed('--status', 'failed'), ['breaks run'])
  assert.deepEqual(await listed('--status', 'failed,done', '--mode', 'run'), ['breaks run', 'reads run'])
  assert.deepEqual(await listed('--mode', 'dry-run'), ['pretends dry-run'])
  assert.deepEqual(await listed('--tool', 'fx:read'), ['reads run'])
  assert.deepEqual(await listed('--server', 'fx', '--limit', '1'), ['pretends dry-run'])
  assert.deepEqual(await listed('--server', 'fs'), [])
  assert.deepEqual(await listed('--since', '1h', '--mode', 'run'), ['breaks run', 'reads run'])
  assert.deepEqual(await listed('--since', '2999-01-01'), [])

  const shown = await metier(space, ['runs', '--limit', '1'], { env: { TZ: 'Asia/Tokyo' } })
  assert.match(shown.stdout, /≈ done \(dry-run\) .*\d\d:\d\d:\d\d GMT\+9 .* s ago .* pretends/)
  assert.match(shown.stderr, /… older ones: --limit 2/)
  assert.match((await metier(space, ['runs', '--server', 'fs'])).stdout, /^No run is like that/)
})

test('filterOf() refuses what it does not know, with what it takes', () => {
  const refused = (options: Record<string, string>, message: RegExp) =>
    assert.throws(
      () => filterOf(options, 0),
      (error) => error instanceof UsageError && message.test(error.message),
    )
  refused({ status: 'donne' }, /^--status takes running, done, .*, not "donne"$/)
  refused({ mode: 'dry' }, /^--mode takes run, dry-run, explore, not "dry"$/)
  refused({ since: 'yesterday' }, /^--since takes a time back \(30m, 2h, 7d\) or a date, not "yesterday"$/)
  assert.deepEqual(filterOf({ since: '2m' }, Date.parse('2026-11-18T00:02:00Z')), { since: '2026-11-18T00:00:00.000Z' })
})

test('age() counts in the largest whole unit and never backwards', () => {
  assert.deepEqual([-5, 59_999, 60_000, 3_600_000 * 5, 86_400_000 * 3].map(age), [
    '0 s ago',
    '59 s ago',
    '1 min ago',
    '5 h ago',
    '3 d ago',
  ])
})
