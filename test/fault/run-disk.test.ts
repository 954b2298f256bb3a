/**
 * Runs on a disk that fills up while they are under way: the answer names the run, which goes on
 * when there is room.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { done, metier, workspace } from '#test'

const program = `
  for (let i = 0; i < 60; i++) {
    await mcp.fx.add({ key: 'k' + i, by: 1 })
    await mcp.fx.big({ bytes: 60_000 + i })
  }
  return 'over'`

test('a run whose disk fills up is answered with its id and no retry, and is resumed when there is room', {
  timeout: 300_000,
}, async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root, to mount a small file system')
  const disk = mkdtempSync(join(tmpdir(), 'metier-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk])
  t.after(() => {
    execFileSync('umount', ['--lazy', disk])
    rmdirSync(disk)
  })
  const space = { ...workspace(t), home: join(disk, 'home') }
  const { json, code } = await metier(space, ['execute', '--code', '-', '--json'], { input: program })
  assert.equal(json.error.code, 'STORE_FULL', JSON.stringify(json))
  assert.deepEqual([json.error.fate, code], ['give_up', 1])
  const [{ run, status }] = (await metier(space, ['runs', '--json'])).json
  assert.deepEqual([json.run, status], [run, 'interrupted'])
  assert.ok(json.error.message.includes(run), json.error.message)

  execFileSync('mount', ['-o', 'remount,size=100m', disk])
  let answer = (await metier(space, ['run', 'resume', run, '--json'])).json
  while (answer.status === 'uncertain') {
    const [{ call, args }] = answer.calls
    const isDone = done(space, 'add').some((effect) => effect.args.key === args.key)
    const how = isDone ? ['--done', JSON.stringify({ key: args.key, total: 1 })] : ['--again']
    answer = (await metier(space, ['run', 'settle', run, '--call', call, ...how, '--json'])).json
  }
  assert.deepEqual([answer.status, answer.result], ['done', 'over'], JSON.stringify(answer))
  assert.equal(new Set(done(space, 'add').map(({ args }) => args.key)).size, done(space, 'add').length)
  assert.equal(done(space, 'add').length, 60)
})
