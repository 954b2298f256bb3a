/** How well a box is closed is found out, never assumed. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { limits } from '#model'
import { type BoxOptions, probeCommand } from './command.ts'
import { attempts } from './escape-programs.test.ts'
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

test('code that left the engine finds nothing in the box to go on with', async (t) => {
  if (!existsSync(bwrap)) return t.skip(needsBubblewrap)
  const { file, args, seccomp } = probeCommand(await strongest(bwrap))
  const folder = mkdtempSync(join(tmpdir(), 'metier-filter-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'filter'), seccomp ?? '')
  const filtered = ['-c', 'exec 3<"$0"; exec "$@"', join(folder, 'filter'), file, ...args.slice(0, -1), '-e', attempts]
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
