/**
 * A gateway that cannot begin ends with a message; one whose boxes are lost says so, recovers, and
 * always stops.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { checkOpenFiles } from '#show/cli'
import { binary, freePort, metier, type Workspace, workspace } from '#test'

type Started = {
  pid: number
  url: string
  ended: Promise<number | null>
  stderr(): string
  kill(name: NodeJS.Signals): void
}

/** Begun, and not waited for: it may never answer. */
async function started(t: TestContext, space: Workspace, openFiles?: number): Promise<Started> {
  const port = await freePort()
  const env = { PATH: process.env.PATH!, HOME: space.folder, METIER_HOME: space.home, METIER_CONFIG: space.file }
  const words = `${openFiles === undefined ? '' : `ulimit -n ${openFiles}; `}exec "$0" serve --port ${port}`
  const child = spawn('/bin/sh', ['-c', words, binary], { env, cwd: space.folder, stdio: ['ignore', 'ignore', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const url = `http://127.0.0.1:${port}`
  return { pid: child.pid!, url, ended, stderr: () => stderr, kill: (name) => child.kill(name) }
}

const health = (url: string) =>
  fetch(`${url}/healthz`).then(
    async (response) => ({ status: response.status, ...((await response.json()) as { ok: boolean; reason?: string }) }),
    () => null,
  )

/** Processes below this one whose command line matches, the youngest last. */
function below(pid: number, command: RegExp): number[] {
  const all = readdirSync('/proc').flatMap((entry) => {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1')
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
      return [{ pid: Number(entry), parent, words: readFileSync(`/proc/${entry}/cmdline`, 'latin1') }]
    } catch {
      return []
    }
  })
  const children = (of: number): typeof all =>
    all.filter(({ parent }) => parent === of).flatMap((one) => [one, ...children(one.pid)])
  return children(pid)
    .filter(({ words }) => command.test(words))
    .map((one) => one.pid)
}

test('serve that may open too few files ends at once, says how to raise the limit, and exits with 3', async (t) => {
  const gateway = await started(t, workspace(t), 70)
  assert.equal(await gateway.ended, 3)
  assert.match(
    gateway.stderr(),
    /this process may open 70 files, and needs at least 128; raise the limit with "ulimit -n/,
  )
})

test('checkOpenFiles() refuses nothing where the limit is high enough, or not known', () => {
  checkOpenFiles('Max open files            1024                 4096                 files')
  checkOpenFiles('')
})

test('serve with as few files as it asks for runs programs, or says that these are too few where it inherited some', async (t) => {
  const gateway = await started(t, workspace(t), 128)
  let over: number | null = null
  void gateway.ended.then((code) => {
    over = code
  })
  while (over === null && (await health(gateway.url))?.ok !== true) await pause(100)
  if (over !== null) return assert.match(gateway.stderr(), /too few files; raise the limit/)
  gateway.kill('SIGTERM')
  assert.equal(await gateway.ended, 0)
})

test('serve whose boxes can never start closes its door and ends with an exit code', async (t) => {
  // Neither with gVisor, whose boxes need the folder, nor without it.
  const space = workspace(t, { config: { sandbox: { minTier: 'gvisor' } } })
  mkdirSync(space.home, { recursive: true })
  writeFileSync(join(space.home, 'sandbox'), 'not a folder')
  const gateway = await started(t, space)
  assert.equal(await gateway.ended, 6)
  assert.match(gateway.stderr(), /SANDBOX_SETUP_FAILED Cannot /)
  assert.equal(await health(gateway.url), null, 'nobody answers for it')
})

test('serve whose box is killed while it starts starts another, and is healthy only when a program can run', async (t) => {
  const space = workspace(t)
  const gateway = await started(t, space)
  let killed = 0
  while (killed === 0) {
    const box = below(gateway.pid, /^\/box\/node|bwrap/).at(-1)
    if (box !== undefined) killed += process.kill(box, 'SIGKILL') ? 1 : 0
    else await pause(2)
  }
  const seen = new Set<number>()
  for (let state = await health(gateway.url); state?.ok !== true; state = await health(gateway.url)) {
    if (state !== null) {
      seen.add(state.status)
      assert.equal(typeof state.reason, 'string')
    }
    await pause(50)
  }
  assert(!seen.has(200))
  const { code, stdout } = await metier(space, ['execute', '--code', '-', '--json'], { input: 'return 1' })
  assert.equal(code, 0, stdout)
  gateway.kill('SIGTERM')
  assert.equal(await gateway.ended, 0)
})
