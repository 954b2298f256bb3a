/** Tests of the frame for real servers, with a real one of ours, and of bubblewrap. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { installBubblewrap, probeBubblewrap } from './bubblewrap.ts'
import { runningServer, startServer, stopServer } from './server-process.ts'
import { down, type Recipe, up } from './services.ts'

const onLinux = process.platform === 'linux' ? false : 'needs /proc to know a process: run on Linux'

/** A server that writes its port into its folder, and ends on SIGTERM only if it is told to. */
function echo(host: string, stubborn = false): Recipe {
  const code = `
    import { createServer } from 'node:net'
    import { writeFileSync } from 'node:fs'
    ${stubborn ? "process.on('SIGTERM', () => {})" : ''}
    const server = createServer().listen(0, ${JSON.stringify(host)}, () => writeFileSync('port', String(server.address().port)))`
  return {
    name: 'echo',
    install: async ({ folder }) => writeFileSync(join(folder, 'server.mjs'), code),
    start: async ({ folder }) => void startServer(folder, { executable: process.execPath, args: ['server.mjs'] }),
    ready: async ({ folder }) => (existsSync(join(folder, 'port')) ? null : 'it has no port yet'),
    stop: ({ folder }) => stopServer(folder, 300),
  }
}

function cacheFolder(t: TestContext): string {
  const cache = mkdtempSync(join(tmpdir(), 'services-'))
  t.after(async () => {
    await stopServer(join(cache, 'echo'), 0)
    rmSync(cache, { recursive: true })
  })
  return cache
}

test('up() starts a server once, and down() ends it', { skip: onLinux }, async (t) => {
  const cache = cacheFolder(t)
  const recipe = echo('127.0.0.1')
  await up(recipe, cache)
  const first = runningServer(join(cache, 'echo'))
  await up(recipe, cache)
  assert.ok(first)
  assert.deepEqual(runningServer(join(cache, 'echo')), first)
  await down(recipe, cache)
  assert.equal(runningServer(join(cache, 'echo')), null)
  await down(recipe, cache)
})

test('up() refuses a server that can be reached from elsewhere, and ends it', { skip: onLinux }, async (t) => {
  const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === 'IPv6'))
  for (const host of hasIpv6 ? ['0.0.0.0', '::'] : ['0.0.0.0']) {
    const cache = cacheFolder(t)
    await assert.rejects(up(echo(host), cache), /^Error: Cannot use echo: it listens beyond loopback/)
    assert.equal(runningServer(join(cache, 'echo')), null)
  }
})

test('up() says what is missing when a server never answers', { skip: onLinux }, async (t) => {
  const recipe: Recipe = { ...echo('127.0.0.1'), ready: async () => 'it does not answer' }
  await assert.rejects(
    up(recipe, cacheFolder(t), () => {}, 100),
    /^Error: Cannot use echo: it does not answer$/,
  )
})

test('down() kills a server that does not listen', { skip: onLinux }, async (t) => {
  const cache = cacheFolder(t)
  await up(echo('127.0.0.1', true), cache)
  await down(echo('127.0.0.1', true), cache)
  assert.equal(runningServer(join(cache, 'echo')), null)
})

test('stopServer() leaves a stranger under an old pid alone', { skip: onLinux }, async (t) => {
  const cache = cacheFolder(t)
  const stranger = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  t.after(() => stranger.kill('SIGKILL'))
  await up(echo('127.0.0.1'), cache)
  const file = join(cache, 'echo', 'pid.json')
  const known = readFileSync(file, 'utf8')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(known), pid: stranger.pid }))
  await stopServer(join(cache, 'echo'), 100)
  await sleep(100)
  assert.deepEqual([stranger.exitCode, stranger.signalCode], [null, null])
  writeFileSync(file, known)
})

test('installBubblewrap() says the exact command when it may not install', (t) => {
  const path = mkdtempSync(join(tmpdir(), 'empty-path-'))
  t.after(() => rmSync(path, { recursive: true }))
  const byHand = 'sudo apt-get update && sudo apt-get install bubblewrap'
  assert.throws(() => installBubblewrap({ path, isRoot: false, say: () => {} }), {
    message: `Cannot install bubblewrap: this needs root. Run: ${byHand}`,
  })
  const said: string[] = []
  const machine = { path, isRoot: true, say: (line: string) => said.push(line) }
  assert.throws(
    () => installBubblewrap(machine),
    /^Error: Cannot install bubblewrap: .*\. Run: apt-get update && apt-get/,
  )
  assert.deepEqual(said, ['installing bubblewrap (apt-get)'])
})

test('probeBubblewrap() believes only a box that was made', (t) => {
  const path = mkdtempSync(join(tmpdir(), 'broken-path-'))
  t.after(() => rmSync(path, { recursive: true }))
  assert.match(probeBubblewrap(path) ?? '', /ENOENT/)
  writeFileSync(join(path, 'bwrap'), '#!/bin/sh\necho "No permissions to create a new namespace" >&2\nexit 1\n')
  chmodSync(join(path, 'bwrap'), 0o755)
  assert.equal(probeBubblewrap(path), 'No permissions to create a new namespace')
  const here = probeBubblewrap(process.env.PATH ?? '')
  const box = spawnSync('bwrap', ['--unshare-all', '--ro-bind', '/', '/', 'true'])
  assert.equal(here === null, box.status === 0, 'it says of this machine what is true of it')
  if (here !== null) t.skip(`needs bubblewrap (${here}): apt-get install bubblewrap`)
})

test('services.ts answers at the terminal', (t) => {
  const script = join(import.meta.dirname, 'services.ts')
  const env = { ...process.env, XDG_CACHE_HOME: cacheFolder(t) }
  const run = (...args: string[]) => spawnSync(process.execPath, [script, ...args], { env, encoding: 'utf8' })
  assert.equal(run().status, 2)
  assert.equal(run('up').status, 2)
  assert.match(run('up', 'nothing').stderr, /^Cannot find "nothing": there is bubblewrap(, [a-z0-9-]+)*\n$/)
  assert.equal(run('down').status, 0)
  assert.match(run('status').stdout, /^bubblewrap: .+\n([a-z0-9-]+: .+\n)*$/)
})
