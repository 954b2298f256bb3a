/** The tour that a newcomer takes first. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { binary, metier, workspace } from '#test'

test('metier demo discovers, executes, asks, crashes, resumes and verifies, and does nothing twice', async (t) => {
  const { code, json, stdout, stderr } = await metier(workspace(t), ['demo', '--json'])
  assert.equal(code, 0, stdout + stderr)
  t.after(() => rmSync(json.folder, { recursive: true, force: true }))
  assert.equal(json.discover, 'shop:refund')
  assert.deepEqual(json.execute.result, ['Ada waits for a loom, postage 30', 'Edsger waits for a thread, postage 2'])
  assert.equal(json.execute.callCount, 2)
  assert.deepEqual(json.approve.result, { order: 1, did: 'refund', times: 1 })
  assert.equal(json.crash.status, 'interrupted')
  assert.deepEqual(
    json.resume.result,
    [1, 2, 3].map((order) => `order ${order} shipped 1 time`),
  )
  assert.equal(json.verify.ok, true)
})

test('metier demo ends with commands that can be typed as they stand', (t) => {
  const { stdout, stderr } = spawnSync(binary, ['demo'], { encoding: 'utf8' })
  const [, ways = ''] = stripVTControlCharacters(stdout).split('Look around\n')
  const folder = /cd (\S+)/.exec(ways)?.[1]
  assert.ok(folder, stdout + stderr)
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  assert.equal(ways.trim().split('\n').length, 4, ways)
  const typed = spawnSync('sh', ['-ec', ways], { encoding: 'utf8' })
  assert.equal(typed.status, 0, typed.stderr)
  assert.match(typed.stdout, /post:ship/)
})
