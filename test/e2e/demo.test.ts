/** The tour that a newcomer takes first. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { binary, metier, temporaryFolder, workspace } from '#test'

test('metier demo discovers, executes, asks, crashes, resumes, learns, reuses and verifies, and does nothing twice', async (t) => {
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
  assert.deepEqual(json.learn.result, { item: 'loom', owes: 150 })
  assert.deepEqual([json.reuse.args, json.reuse.result], [{ customer: 'Grace' }, { item: 'shuttle', owes: 19 }])
  assert.equal(json.reuse.capability, json.learn.capability)
  assert.equal(json.agent.result.text, 'Two orders are late; late.md lists them.')
  for (const book of ['ledger', 'manifests', 'sessions'])
    assert.ok(readdirSync(join(json.folder, book)).length > 0, book)
  assert.equal(json.verify.ok, true)
})

test('metier demo ends with commands that can be typed as they stand', (t) => {
  const { stdout, stderr } = spawnSync(binary, ['demo'], { encoding: 'utf8' })
  const [, ways = ''] = stripVTControlCharacters(stdout).split('Look around\n')
  const folder = /cd (\S+)/.exec(ways)?.[1]
  assert.ok(folder, stdout + stderr)
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  assert.equal(ways.trim().split('\n').length, 8, ways)
  const typed = spawnSync('sh', ['-ec', ways], { encoding: 'utf8' })
  assert.equal(typed.status, 0, typed.stderr)
  assert.match(typed.stdout, /post:ship/)
  assert.match(typed.stdout, /assistant {2}Two customers wait: I write it down\. → writes late\.md/)
  assert.match(typed.stdout, /cap:what_customer_owe_postage@1 {2}verified/)
  assert.match(typed.stdout, /ACTIVE {2}Ship everything/)
})

/** A terminal of its own for a command, whose screen can be read and typed at. */
function typed(args: string, more: object = {}) {
  const child = spawn('script', ['-qefc', `${binary} ${args}`, '/dev/null'], {
    ...more,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let screen = ''
  child.stdout.on('data', (chunk) => (screen += chunk))
  const until = async (text: string) => {
    for (let i = 0; i < 1200 && !screen.includes(text); i++) await pause(50)
    assert(screen.includes(text), screen)
  }
  return { child, until, screen: () => stripVTControlCharacters(screen), ended: once(child, 'exit') }
}

const needsScript = spawnSync('script', ['--version']).error === undefined ? false : 'needs script(1)'

test('metier demo waits for the yes of the person at the terminal, and takes a no', {
  skip: needsScript,
}, async (t) => {
  const { child, until, screen, ended } = typed('demo')
  t.after(() => child.kill('SIGKILL'))
  await until('leave it open')
  child.stdin.write('n')
  await until('Look around')
  const [code] = await ended
  const folder = /cd (\S+)/.exec(screen())![1]!
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  assert.equal(code, 0)
  assert.match(screen(), /You said no/)
})

test('metier demo leaves nothing behind when Ctrl-C ends it', { skip: needsScript }, async (t) => {
  const TMPDIR = temporaryFolder(t)
  const { child, until, screen, ended } = typed('demo', { env: { ...process.env, TMPDIR } })
  t.after(() => child.kill('SIGKILL'))
  await until('leave it open')
  child.stdin.write('\u0003')
  const [code] = await ended
  assert.equal(code, 130, screen())
  assert.deepEqual(globSync('metier-demo-*', { cwd: TMPDIR }), [])
})
