/** How well a box is closed is found out, never assumed. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { limits } from '#model'
import { type BoxOptions, probeCommand } from './command.ts'
import { boxesToTry } from './isolation.ts'
import { resultOf } from './play.test.ts'
import { openBoxes } from './sandbox.ts'

const bwrap = '/usr/bin/bwrap'
const needsBubblewrap = 'needs bubblewrap: apt-get install bubblewrap'

async function strongest(path: string | null): Promise<BoxOptions> {
  const wanted = { node: process.execPath, bwrap: path, runsc: null, folder: null, onlyGvisor: false, addon: null }
  return (await boxesToTry(wanted))[0]!
}

async function isolationWith(t: TestContext, path: string | null) {
  const boxes = openBoxes({ bwrap: path })
  t.after(() => boxes.close())
  const report = await boxes.isolation()
  assert.equal(await resultOf(boxes, 'return 1 + 1'), 2)
  return report
}

/** A program in the place of bubblewrap. */
function standIn(t: TestContext, script: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'metier-bwrap-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'bwrap')
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
  return file
}

test('with bubblewrap the tier is os, and every limit says how it is kept', async (t) => {
  if (!existsSync(bwrap)) return t.skip(needsBubblewrap)
  assert.deepEqual(await isolationWith(t, bwrap), {
    tier: 'os',
    layers: ['quickjs-wasm', 'process', 'node-permission', 'bubblewrap', 'seccomp'],
    runtime: { name: 'quickjs-wasi', version: '3.6.2' },
    enforced: {
      memory: 'engine, rlimit',
      cpu: 'engine',
      pids: 'seccomp',
      disk: 'read-only',
      network: 'namespace, seccomp',
      files: 'namespace',
    },
    degraded: [],
  })
})

test('without bubblewrap the tier is wasm, and says so with the way to more', async (t) => {
  const { tier, layers, enforced, degraded } = await isolationWith(t, null)
  assert.equal(tier, 'wasm')
  assert.deepEqual(layers, ['quickjs-wasm', 'process', 'node-permission'])
  assert.equal(enforced.network, 'engine')
  assert.match(degraded[0]!, /only the engine does: install bubblewrap \(apt-get install bubblewrap\)/)
})

test('a bubblewrap that is not there or fails is no layer', async (t) => {
  for (const path of [
    '/nonexistent/bwrap',
    standIn(t, 'echo "bwrap: No permissions to create new namespace" >&2; exit 1'),
  ]) {
    const { tier, degraded } = await isolationWith(t, path)
    assert.equal(tier, 'wasm')
    assert.match(degraded.join('\n'), /bubblewrap does not hold: .*(not found|No permissions)/s)
  }
})

test('a bubblewrap that only looks like one is found out', async (t) => {
  const leaky = standIn(
    t,
    `while [ "$1" != /box/node ]; do
  if [ "$1" = --ro-bind ]; then
    [ "$3" = /box/node ] && node=$2
    [ "$3" = /box/inside ] && inside=$2
    shift 2
  fi
  shift
done
shift
for word; do
  shift
  case $word in /box/inside/*) word=$inside/\${word##*/} ;; --allow-fs-read=*) word='--allow-fs-read=*' ;; esac
  set -- "$@" "$word"
done
exec "$node" "$@"`,
  )
  const { tier, degraded } = await isolationWith(t, leaky)
  assert.equal(tier, 'wasm')
  assert.match(degraded[0]!, /it leaves open the network of the host, a place to write, a file of the host/)
})

test('a system without filters of system calls keeps the other walls and says what is missing', async (t) => {
  if (!existsSync(bwrap)) return t.skip(needsBubblewrap)
  const filterless = standIn(
    t,
    `for word; do [ "$word" = --seccomp ] && { echo "seccomp is not supported" >&2; exit 1; }; done; exec ${bwrap} "$@"`,
  )
  const { tier, layers, enforced, degraded } = await isolationWith(t, filterless)
  assert.equal(tier, 'os')
  assert(!layers.includes('seccomp'))
  assert.deepEqual([enforced.pids, enforced.network], ['engine', 'namespace'])
  assert.match(degraded[0]!, /with a filter of system calls does not hold: .*seccomp is not supported/s)
})

/** What Node can do in the box once nothing of ours holds it back any more. */
const attempts: Record<string, string> = {
  'the password file': `fs.readFileSync('/etc/passwd')`,
  'the shadow file': `fs.readFileSync('/etc/shadow')`,
  'processes of the host': `fs.readdirSync('/proc')`,
  devices: `fs.readdirSync('/dev')`,
  'temporary files': `fs.readdirSync('/tmp')`,
  'programs of the host': `fs.readdirSync('/usr/bin')`,
  'the shell': `cp.execFileSync('/bin/sh', ['-c', 'true'])`,
  'a child process': `cp.execFileSync('/box/node', ['--version'])`,
  'a worker’s new file': `fs.writeFileSync('/box/inside/child.ts', '')`,
  'a file in the root': `fs.writeFileSync('/x', 'x')`,
  'a folder in the root': `fs.mkdirSync('/x')`,
  'another owner': `process.setuid(0)`,
  'a unix socket': `await new Promise((ok, no) => net.connect('/run/dbus/system_bus_socket').on('connect', ok).on('error', no))`,
  'an abstract socket': `await new Promise((ok, no) => net.connect('\\0x').on('connect', ok).on('error', no))`,
  'a listening port': `await new Promise((ok, no) => net.createServer().listen(0, ok).on('error', no))`,
  'a datagram': `await new Promise((ok, no) => { const s = dgram.createSocket('udp4'); s.on('error', no); s.send('x', 53, '127.0.0.1', (e) => e ? no(e) : ok()) })`,
  'names of the network': `await dns.promises.lookup('localhost.localdomain.example')`,
  'a core dump’s size': `if (process.report.getReport().userLimits.core_file_size_blocks.hard === 0) throw 1`,
  'a database file': `new (require('node:sqlite').DatabaseSync)('/x.db').exec('create table t (a)')`,
}

test('code that left the engine finds nothing in the box to go on with', async (t) => {
  if (!existsSync(bwrap)) return t.skip(needsBubblewrap)
  const tried = Object.entries(attempts).map(
    ([name, code]) => `await (async () => { ${code} })().then(() => found.push(${JSON.stringify(name)}), () => {})`,
  )
  const script = `const fs = require('node:fs'), cp = require('node:child_process'), net = require('node:net'), dgram = require('node:dgram'), dns = require('node:dns')
    ;(async () => { const found = []; ${tried.join('\n')}
    process.stdout.write(JSON.stringify({ found, uid: process.getuid(), pid: process.pid, root: fs.readdirSync('/'), env: process.env }))
    process.exit() })()`
  const { file, args, seccomp } = probeCommand(await strongest(bwrap))
  const folder = mkdtempSync(join(tmpdir(), 'metier-filter-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'filter'), seccomp ?? '')
  const filtered = ['-c', 'exec 3<"$0"; exec "$@"', join(folder, 'filter'), file, ...args.slice(0, -1), '-e', script]
  const { stdout, stderr } = spawnSync('/bin/sh', filtered, { encoding: 'utf8', env: {} })
  assert.deepEqual(JSON.parse(stdout || JSON.stringify(stderr)), {
    found: [],
    uid: 65534,
    pid: 1,
    root: ['box', 'lib', 'lib64', 'usr'].filter((name) => existsSync(`/${name}`) || name === 'box'),
    env: { PWD: '/' },
  })
})

test('the limits of the process are there', async (t) => {
  const { degraded } = await isolationWith(t, null)
  assert(!degraded.some((line) => line.includes('memory')), degraded.join())
  assert.equal((await strongest(null)).stackBytes, limits.boxStackBytesMax)
})
