/**
 * Boxes when the process that opened them is killed: nothing they held goes on, and nothing of it
 * was passed to them.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type BoxesOptions, openBoxes } from '#sandbox'
import { heldBubblewrap, root, startingBelow, temporaryFolder, whyNot } from '#test'
import type { GuestOrder } from './script-guest.ts'

const code = {
  computes: 'for (;;);',
  waits: 'await mcp.a.b()',
  'is in a native loop': 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)',
}

/** A process of its own that opens a box, starts a program in it and says so. */
function opener(options: BoxesOptions, program: string, descriptors: (number | 'ignore')[] = []): ChildProcess {
  const script = `
    import { openBoxes, prepareProgram } from ${JSON.stringify(import.meta.resolve('#sandbox'))}
    const boxes = openBoxes(${JSON.stringify(options)})
    const source = prepareProgram(${JSON.stringify(program)}).source
    const running = await boxes.program({ source, args: '{}', seed: '0'.repeat(64), now: 0 })
    void running.start()
    setTimeout(() => console.log('started'), 100)`
  const args = ['--no-warnings', '--input-type=module', '-e', script]
  return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', ...descriptors], env: {} })
}

function descendants(pid: number): number[] {
  try {
    const own = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
    )
    return own.flatMap((child) => [child, ...descendants(child)])
  } catch {
    return []
  }
}

const lives = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/\nState:\s+Z/.test(readFileSync(`/proc/${pid}/status`, 'latin1'))

async function started(t: TestContext, process_: ChildProcess): Promise<number[]> {
  t.after(() => process_.kill('SIGKILL'))
  await new Promise((resolve, reject) => {
    process_.stdout!.once('data', resolve)
    process_.once('exit', () => reject(new Error('it ended before it had started')))
  })
  const found = descendants(process_.pid!)
  assert(found.length > 0)
  return found
}

async function allGone(pids: number[], withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs
  while (pids.some(lives) && performance.now() < until) await pause(20)
  return !pids.some(lives)
}

for (const [what, program] of Object.entries(code)) {
  test(`kill -9 of the opener ends a box in bubblewrap whose program ${what}`, async (t) => {
    if (!existsSync('/usr/bin/bwrap')) return t.skip('needs bubblewrap: apt-get install bubblewrap')
    const parent = opener({ bwrap: '/usr/bin/bwrap' }, program)
    const pids = await started(t, parent)
    parent.kill('SIGKILL')
    assert(await allGone(pids, 5000))
  })
}

test('kill -9 of the opener in the very instant in which a box starts leaves nothing of it', async (t) => {
  if (whyNot('os')) return t.skip(whyNot('os') || '')
  const folder = temporaryFolder(t)
  const parent = opener({ bwrap: heldBubblewrap(folder), runsc: null }, code.waits)
  t.after(() => parent.kill('SIGKILL'))
  const pids = await startingBelow(t, parent.pid!)
  parent.kill('SIGKILL')
  assert(await allGone(pids, 5000), 'no process of the box waits for ever')
})

test('kill -9 in the very instant in which the box of a script starts leaves nothing of it', async (t) => {
  if (whyNot('os')) return t.skip(whyNot('os') || '')
  const folder = temporaryFolder(t)
  chmodSync(folder, 0o777)
  const requests = [{ interpreter: 'bash', script: 'echo on' }]
  const order: GuestOrder = {
    options: { folder: join(folder, 'state'), bwrap: heldBubblewrap(folder), runsc: null },
    requests,
  }
  // Root has its boxes in a namespace that the kernel ends whole; other users have not.
  const who = process.getuid?.() === 0 ? { uid: 42_999, gid: 42_999 } : {}
  const guest = join(root, 'test', 'fault', 'script-guest.ts')
  const env = { HOME: folder, PATH: '/usr/bin:/bin' }
  const parent = spawn(process.execPath, [guest, JSON.stringify(order)], { cwd: root, stdio: 'ignore', env, ...who })
  t.after(() => parent.kill('SIGKILL'))
  const pids = await startingBelow(t, parent.pid!)
  parent.kill('SIGKILL')
  assert(await allGone(pids, 5000), 'no process of the box waits for ever')
})

for (const what of ['computes', 'waits'] as const) {
  test(`kill -9 of the opener ends a box without bubblewrap whose program ${what}`, async (t) => {
    const parent = opener({ bwrap: null }, code[what])
    const pids = await started(t, parent)
    parent.kill('SIGKILL')
    assert(await allGone(pids, 5000))
  })
}

for (const what of ['computes', 'waits'] as const) {
  test(`kill -9 of the opener ends a box in gVisor whose program ${what}, and the next one clears up`, {
    skip: whyNot('gvisor'),
  }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'metier-orphan-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const parent = opener({ folder, minTier: 'gvisor' }, code[what])
    const pids = await started(t, parent)
    parent.kill('SIGKILL')
    assert(await allGone(pids, 10_000))
    assert.equal(readdirSync(join(folder, 'programs')).length, 1)
    const next = openBoxes({ folder, minTier: 'gvisor' })
    await next.isolation()
    await next.close()
    assert.deepEqual(readdirSync(join(folder, 'programs')), [])
    assert(!readFileSync('/proc/self/mounts', 'utf8').includes(folder))
  })
}

test('a descriptor that the opener inherited does not reach the box', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'metier-descriptor-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'secret')
  const descriptors = Array.from({ length: 120 }, (_, i) => (i === 117 ? openSync(secret, 'r') : 'ignore'))
  for (const bwrap of existsSync('/usr/bin/bwrap') ? ['/usr/bin/bwrap', null] : [null]) {
    const parent = opener({ bwrap }, code.waits, descriptors as (number | 'ignore')[])
    const pids = await started(t, parent)
    const holders = [parent.pid!, ...pids].filter((pid) =>
      readdirSync(`/proc/${pid}/fd`).some(
        (fd) => existsSync(`/proc/${pid}/fd/${fd}`) && readlinkSync(`/proc/${pid}/fd/${fd}`) === secret,
      ),
    )
    assert.deepEqual(holders, [parent.pid], 'the opener alone holds it')
    parent.kill('SIGKILL')
    assert(await allGone(pids, 5000))
  }
})
