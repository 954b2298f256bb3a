/**
 * Which box a program gets: the strongest that is demanded, never silently a weaker one than
 * before.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type AppError, limits } from '#model'
import { findBinaries, removeFolder, usualPath } from '#sandbox/host'
import { probeCommand } from './command.ts'
import { attempts } from './escape-programs.test.ts'
import { boxesToTry } from './isolation.ts'
import { places } from './places.test.ts'
import { resultOf } from './play.test.ts'
import { acceptTier, type BoxesOptions, openBoxes, runscModule } from './sandbox.ts'

const { skip: noBubblewrap } = places[1]!
const { skip: noRunsc } = places[2]!

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'metier-tier-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function opened(t: TestContext, options: BoxesOptions) {
  const boxes = openBoxes(options)
  t.after(() => boxes.close())
  return boxes
}

test('a program is refused a weaker box than was used before, until a human accepts it', {
  skip: noBubblewrap,
}, async (t) => {
  const folder = temporary(t)
  assert.equal(await resultOf(opened(t, { folder, runsc: null }), 'return 1'), 1)
  const weaker = opened(t, { folder, bwrap: null, runsc: null })
  assert.equal((await weaker.isolation()).tier, 'wasm')
  await assert.rejects(resultOf(weaker, 'return 1'), (error: AppError) => {
    assert.equal(error.code, 'SANDBOX_TIER_DOWNGRADE')
    assert.deepEqual(error.context, { tier: 'wasm', before: 'os' })
    assert.match(
      error.message,
      /^Cannot run a program at tier wasm: tier os was used here before.* metier sandbox accept wasm$/,
    )
    return true
  })
  acceptTier(folder, 'wasm')
  assert.equal(await resultOf(weaker, 'return 1'), 1)
})

test('where nothing of the system closes a box a program runs all the same, and a new workspace knows no better', async (t) => {
  const boxes = opened(t, { folder: temporary(t), bwrap: null, runsc: null })
  assert.equal(await resultOf(boxes, 'return 1'), 1)
  assert.match((await boxes.isolation()).degraded[0]!, /^nothing of the system closes the box/)
})

test('a program runs in gVisor also where we make folders for ourselves alone', { skip: noRunsc }, async (t) => {
  const umask = process.umask(0o077)
  t.after(() => process.umask(umask))
  const boxes = opened(t, { folder: temporary(t), minTier: 'gvisor' })
  assert.equal(await resultOf(boxes, 'return 1'), 1)
  await boxes.close()
})

test('where gVisor is demanded and not there, no program runs, and the refusal says what adds it', async (t) => {
  const boxes = opened(t, { folder: temporary(t), minTier: 'gvisor', runsc: null })
  const fix = `CGO_ENABLED=0 go install ${runscModule}`
  await assert.rejects(resultOf(boxes, 'return 1'), {
    code: 'SANDBOX_SETUP_FAILED',
    message: `Cannot run a program at tier gvisor: runsc is not installed. Run: ${fix}`,
  })
  const broken = opened(t, { folder: temporary(t), minTier: 'gvisor', runsc: '/bin/false' })
  await assert.rejects(broken.isolation(), {
    code: 'SANDBOX_SETUP_FAILED',
    message: /gVisor with ptrace does not hold/,
  })
})

test('where gVisor is demanded a program runs in it, and nothing is left of it afterwards', {
  skip: noRunsc,
}, async (t) => {
  const folder = temporary(t)
  const boxes = opened(t, { folder, minTier: 'gvisor' })
  const { tier, layers, enforced, degraded } = await boxes.isolation()
  assert.equal(tier, 'gvisor')
  assert.deepEqual(layers.slice(0, 4), ['quickjs-wasm', 'process', 'node-permission', 'gvisor'])
  assert.deepEqual(
    [enforced.files, enforced.network, enforced.memory, enforced.disk],
    ['gvisor', 'gvisor', 'engine, rlimit', 'read-only'],
  )
  assert.deepEqual(degraded, layers.includes('systrap') ? [] : degraded)
  assert.equal(await resultOf(boxes, 'return 1'), 1)
  await boxes.close()
  assert.deepEqual(readdirSync(join(folder, 'programs')), [])
  assert(!readFileSync('/proc/self/mounts', 'utf8').includes(folder))
})

test('code that left the engine finds nothing in gVisor either', { skip: noRunsc }, async (t) => {
  const folder = temporary(t)
  const { gvisor: runsc } = findBinaries({ path: usualPath })
  const wanted = { node: process.execPath, bwrap: null, runsc, folder, onlyGvisor: true, addon: null }
  const [box] = await boxesToTry(wanted)
  const { file, args, leave } = probeCommand(box!)
  const config = join(args.find((word) => word.startsWith('--bundle='))!.slice('--bundle='.length), 'config.json')
  const container = JSON.parse(readFileSync(config, 'utf8'))
  container.process.args.splice(-1, 1, '-e', attempts)
  writeFileSync(config, JSON.stringify(container))
  const { stdout, stderr } = spawnSync(file, args, {
    encoding: 'utf8',
    env: { SECRET: 'canary' },
    timeout: limits.boxStartMsMax,
  })
  leave?.()
  await removeFolder(folder)
  const { found, uid, env } = JSON.parse(stdout || JSON.stringify({ found: stderr }))
  // Of its own kernel: nothing of the host is in them.
  const own = ['processes of the host', 'devices', 'temporary files']
  assert.deepEqual({ found, uid, env }, { found: own, uid: 65534, env: { HOME: '/' } })
})
