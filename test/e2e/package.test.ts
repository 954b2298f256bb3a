/**
 * The package as a stranger gets it: packed, installed into an empty folder with spaces, started on
 * whatever Node is there.
 */
import assert from 'node:assert/strict'
import { type SpawnSyncOptions, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { before, test } from 'node:test'
import { root, temporaryFolder } from '#test'

const isRoot = process.getuid?.() === 0
/** What a machine has by itself: without the pinned Node that npm puts before it. */
const PATH = process.env
  .PATH!.split(delimiter)
  .filter((folder) => !folder.includes('node_modules') && !folder.includes('node-gyp-bin'))
  .join(delimiter)

const run = (command: string, args: string[], { env, ...options }: SpawnSyncOptions = {}) => {
  const own = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|METIER_|INIT_CWD|NODE)/.test(name)),
  )
  const ran = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: 300_000,
    env: { ...own, PATH, ...env },
    ...options,
  })
  return { code: ran.status, stdout: String(ran.stdout), stderr: String(ran.stderr) }
}

let folder: string
let cache: string

before((t) => {
  const base = temporaryFolder(t as Parameters<typeof temporaryFolder>[0])
  chmodSync(base, 0o755)
  folder = join(base, 'a project of mine')
  cache = join(base, 'cache')
  mkdirSync(folder)
  const packed = run('npm', ['pack', '--pack-destination', base, '--loglevel=error'], { cwd: root })
  assert.equal(packed.code, 0, packed.stderr)
  const [file] = globSync('metier-*.tgz', { cwd: base })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "scripts": { "node": "node --version" } }')
  const installed = run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', join(base, file!)], {
    cwd: folder,
  })
  assert.equal(installed.code, 0, installed.stderr)
})

test('the installed package leaves the Node of the project alone', () => {
  assert.equal(existsSync(join(folder, 'node_modules/.bin/node')), false)
  const mine = run('node', ['--version'])
  assert.equal(run('npm', ['run', '--silent', 'node'], { cwd: folder }).stdout, mine.stdout)
})

test('the installed package fetches its Node once where the system has none that is new enough, and takes the tour', () => {
  const env = { XDG_CACHE_HOME: cache }
  const first = run('npx', ['metier', 'version'], { cwd: folder, env })
  assert.equal(first.code, 0, first.stderr)
  const again = run('npx', ['metier', 'demo', '--json'], { cwd: folder, env })
  assert.equal(again.code, 0, again.stdout + again.stderr)
  assert.doesNotMatch(again.stderr, /Fetching/)
  const seen = JSON.parse(again.stdout)
  rmSync(seen.folder, { recursive: true })
  assert.deepEqual([seen.verify.ok, seen.approve.status, seen.resume.status], [true, 'done', 'done'])
  const isOld = Number(run('node', ['-p', 'process.versions.node.split(".")[0]']).stdout) < 24
  assert.equal(existsSync(join(cache, 'metier/node')), isOld, 'only an old Node has to be replaced')
})

test('the installed package takes the tour as a normal user, with a home of their own', {
  skip: isRoot ? false : 'needs root to become another user',
}, (t) => {
  const home = temporaryFolder(t)
  const mine = join(home, '.cache')
  if (existsSync(cache)) cpSync(cache, mine, { recursive: true })
  spawnSync('chown', ['-R', '65534:65534', home])
  const user = { cwd: folder, env: { HOME: home, XDG_CACHE_HOME: mine }, uid: 65534, gid: 65534 }
  const toured = run(join(folder, 'node_modules/.bin/metier'), ['demo', '--json'], user)
  assert.equal(toured.code, 0, toured.stdout + toured.stderr)
  const seen = JSON.parse(toured.stdout)
  rmSync(seen.folder, { recursive: true })
  assert.equal(seen.verify.ok, true)
})

test('npm start from another folder sees the configuration of that folder', (t) => {
  const elsewhere = temporaryFolder(t)
  writeFileSync(join(elsewhere, 'metier.json'), '{ "policy": { "permissions": "minimal" } }')
  const started = run('npm', ['--prefix', root, 'start', '--silent', '--', 'policy'], { cwd: elsewhere })
  assert.equal(started.code, 0, started.stderr)
  assert.match(started.stdout, /^else: minimal/m)
})
