/**
 * What becomes of boxes when we die, when they are killed from outside, and when we are not who we
 * were: nothing is left, nothing is misjudged.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { ScriptRequest, ScriptResult, ScriptTier } from '#sandbox'
import { binaryOf, cgroups, children, isRunning, leftovers, lodge, root, temporaryFolder, whyNot } from '#test'
import type { GuestOrder } from './script-guest.ts'

type GuestReport = Partial<ScriptResult> & { error?: string; message?: string }

const guest = join(root, 'test', 'fault', 'script-guest.ts')
const isRoot = process.getuid?.() === 0

function optionsFor(tier: ScriptTier, folder: string): GuestOrder['options'] {
  return { folder, bwrap: tier === 'os' ? binaryOf('os') : null, runsc: tier === 'gvisor' ? binaryOf('gvisor') : null }
}

async function until(isTrue: () => boolean, what: string, msMax = 15_000): Promise<void> {
  const end = performance.now() + msMax
  while (!isTrue()) {
    assert.ok(performance.now() < end, `waited in vain: ${what}`)
    await pause(20)
  }
}

function listen(child: ChildProcess): Promise<GuestReport[]> {
  let text = ''
  let errors = ''
  child.stdout!.on('data', (chunk) => (text += chunk))
  child.stderr!.on('data', (chunk) => (errors += chunk))
  return new Promise((resolve, reject) =>
    child.once('close', (code) => {
      if (code !== 0) return reject(new Error(`it ended with ${code}: ${errors}`))
      resolve(
        text
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      )
    }),
  )
}

for (const tier of ['os', 'gvisor'] as const) {
  test(`at tier ${tier}, boxes die with us, and who comes next takes away what is left`, {
    skip: whyNot(tier),
  }, async (t) => {
    const folder = temporaryFolder(t)
    const mark = `51${process.pid}`
    const requests = [{ interpreter: 'bash', script: `echo on; sleep ${mark}`, timeoutSeconds: 100 }]
    const order: GuestOrder = { options: { ...optionsFor(tier, folder), poolSize: 2 }, requests }
    const victim = spawn(process.execPath, [guest, JSON.stringify(order)], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => victim.kill('SIGKILL'))
    const own = `-${victim.pid}-`
    const waiting = () => readdirSync(join(folder, 'boxes', readdirSync(join(folder, 'boxes'))[0]!)).length
    const isOn = tier === 'os' ? () => isRunning(`sleep ${mark}`) : () => waiting() >= 3 && isRunning('runsc-sandbox')
    await until(() => existsSync(join(folder, `self-test-${tier}.json`)) && isOn(), 'the script runs', 60_000)
    await pause(300)
    victim.kill('SIGKILL')
    await until(() => !isRunning(own) && !isRunning(`sleep ${mark}`), 'every process of the box is gone', 5000)
    assert.ok(
      readdirSync(join(folder, 'boxes')).some((name) => name.includes(own)),
      'a crash leaves its folder',
    )

    const next = lodge([tier], { folder })
    t.after(() => next.close())
    assert.equal((await next.boxes.run({ interpreter: 'bash', script: 'echo again' })).stdout, 'again\n')
    assert.ok(readdirSync(join(folder, 'boxes')).every((name) => !name.includes(own)))
    assert.deepEqual(
      cgroups().filter((name) => name.includes(own)),
      [],
    )
    await next.boxes.close()
    assert.deepEqual(leftovers(folder), [])
  })

  test(`at tier ${tier}, a box killed from outside is no error of its script`, { skip: whyNot(tier) }, async (t) => {
    const { boxes, close } = lodge([tier], { poolSize: 0 })
    t.after(close)
    await boxes.isolation()
    for (const name of tier === 'os' ? ['bwrap', 'sh'] : ['runsc', 'runsc-gofer', 'runsc-sandbox']) {
      const running = boxes.run({ interpreter: 'bash', script: 'echo on; sleep 30; exit 2', timeoutSeconds: 40 })
      // A box that is killed while it is still being made was not set up; either way the script is
      // not to blame.
      const ours = ({ code }: { code?: string }) => /^SANDBOX_(EXECUTION|SETUP)_FAILED$/.test(code ?? '')
      const ended = assert.rejects(running, ours, `${name} was killed`)
      const find = () => children(process.pid).filter((pid) => programOf(pid) === name)
      await until(() => find().length === 1, `${name} runs`)
      await pause(500)
      process.kill(find()[0]!, 'SIGKILL')
      await ended
    }
  })
}

function programOf(pid: number): string {
  try {
    return basename(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]!)
  } catch {
    return '' // it ended while we looked
  }
}

for (const tier of ['os', 'gvisor'] as const) {
  test(`at tier ${tier}, what we inherited from whoever started us does not reach the box`, {
    skip: whyNot(tier),
  }, async (t) => {
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'secret'), 'the secret of our parent')
    const secret = openSync(join(folder, 'secret'), 'r')
    const script = `
for fd in (5, 7, 9, 12):
  for path in ('/proc/self/fd/%d', '/proc/1/fd/%d'):
    try: print('OPEN', open(path % fd).read())
    except OSError: print('no')`
    const order: GuestOrder = {
      options: optionsFor(tier, join(folder, 'state')),
      requests: [{ interpreter: 'python', script }],
    }
    const inherited = Array.from({ length: 10 }, () => secret)
    const command = [guest, JSON.stringify(order)]
    const child = spawn(process.execPath, command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe', ...inherited] })
    const [said] = await listen(child)
    closeSync(secret)
    assert.equal(said!.exitCode, 0, JSON.stringify(said))
    assert.doesNotMatch(said!.stdout!, /OPEN|secret/)
    assert.equal(said!.stdout!.match(/^no$/gm)?.length, 8)
  })
}

const memory: ScriptRequest = { interpreter: 'python', script: "a = []\nwhile True: a.append(b'x' * (10 << 20))" }
const family: ScriptRequest = {
  interpreter: 'bash',
  script: `for i in 1 2 3 4 5 6 7 8; do python3 -c 'import time; x = b"x" * (100 << 20); time.sleep(3)' & done; wait`,
}
const tasks: ScriptRequest = {
  interpreter: 'python',
  script:
    'import os, time\nn = 0\ntry:\n  while n < 500:\n    if os.fork() == 0: time.sleep(9); os._exit(0)\n    n += 1\nexcept OSError: pass\nprint(n)',
}
const self: ScriptRequest = { interpreter: 'bash', script: 'id -u; echo err >/dev/stderr; (setsid sleep 77 &); exit 3' }

function judge(said: GuestReport[], tier: ScriptTier): void {
  const [plain, bomb, children, forks] = said
  assert.deepEqual([plain!.exitCode, plain!.stderr], [3, 'err\n'], JSON.stringify(plain))
  assert.ok(Number(plain!.stdout) >= 65534)
  assert.equal(bomb!.error, 'SANDBOX_RESOURCE_LIMIT', JSON.stringify(bomb))
  assert.equal(children!.error, 'SANDBOX_RESOURCE_LIMIT', JSON.stringify(children))
  assert.ok(Number(forks!.stdout) > 40 && Number(forks!.stdout) <= 64, JSON.stringify(forks))
  const { enforced, degraded } = plain!.isolation!
  assert.deepEqual([enforced.memory.split(',')[0], enforced.cpu], ['watchdog', 'timeout'], tier)
  assert.ok(degraded.some((line) => line.startsWith('no control group bounds the memory')))
}

for (const tier of ['os', 'gvisor'] as const) {
  const skip = whyNot(tier) || (!isRoot && 'needs root, to become somebody else')
  test(`at tier ${tier}, a user without rights has the same promises, and is told how they are kept`, {
    skip,
  }, async (t) => {
    const folder = temporaryFolder(t)
    chmodSync(folder, 0o755)
    const uid = 42_000 + (process.pid % 1000)
    const state = join(folder, 'state')
    mkdirSync(state, { mode: 0o777 })
    chmodSync(state, 0o777)
    const order: GuestOrder = {
      options: optionsFor(tier, join(state, 'home')),
      requests: [self, memory, family, tasks],
    }
    if (tier === 'gvisor') order.options.runsc = share(binaryOf('gvisor')!, join(folder, 'runsc'))
    const child = spawn(process.execPath, [guest, JSON.stringify(order)], {
      cwd: root,
      env: { HOME: state, PATH: '/usr/bin:/bin' },
      uid,
      gid: uid,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    judge(await listen(child), tier)
    assert.deepEqual(readdirSync(join(state, 'home', 'boxes')), [])
  })

  test(`at tier ${tier}, root without control groups has the same promises`, { skip }, async (t) => {
    const folder = temporaryFolder(t)
    const order: GuestOrder = { options: optionsFor(tier, folder), requests: [self, memory, family, tasks] }
    const hide = 'mount --make-rprivate / && mount -t tmpfs none /sys/fs/cgroup && exec "$@"'
    const command = ['-m', 'sh', '-c', hide, 'sh', process.execPath, guest, JSON.stringify(order)]
    judge(await listen(spawn('unshare', command, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })), tier)
    assert.deepEqual(readdirSync(join(folder, 'boxes')), [])
  })
}

/** Where that user can read it. */
function share(from: string, to: string): string {
  try {
    linkSync(from, to)
  } catch {
    copyFileSync(from, to)
  }
  return to
}
