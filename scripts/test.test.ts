/** Tests of the gate: what it counts, what it says, and that nothing bad passes it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { runTestFile } from './test-file.ts'

const gate = join(import.meta.dirname, 'test.ts')
const head = "import test, { describe, it } from 'node:test'\n"

const files = {
  passing: `${head}test('adds', () => {})\ndescribe('a suite', () => { it('has a test', () => {}) })`,
  failing: `${head}test('breaks', () => { console.log('seed 42'); throw new Error('boom') })
test('parent', async (t) => { await t.test('child', () => { throw new Error('bang') }) })`,
  skipping: `${head}test('runs', () => {})\ntest('waits', (t) => t.skip('needs bubblewrap: apt-get install bubblewrap'))
test('rests', { skip: true }, () => {})`,
  crashing: `${head}test('starts', () => { process.kill(process.pid, 'SIGKILL') })`,
  leaving: `${head}test('starts', () => {})\ntest('leaves early', async () => { await null; process.exit(0) })\ntest('never runs', () => {})`,
  empty: 'export {}',
  sharing: `${head}import './empty.test.ts'\ntest('uses what is shared', () => {})`,
  late: `${head}test('is quick', () => { setTimeout(() => { throw new Error('too late') }, 20) })`,
  missing: "import './nowhere.ts'",
}

function folder(t: TestContext, names: (keyof typeof files)[]): string {
  const path = mkdtempSync(join(tmpdir(), 'gate-'))
  t.after(() => rmSync(path, { recursive: true }))
  for (const name of names) writeFileSync(join(path, `${name}.test.ts`), files[name])
  return path
}

function runGate(t: TestContext, ...names: (keyof typeof files)[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [gate, '*.test.ts'], {
    cwd: folder(t, names),
    encoding: 'utf8',
  })
  assert.equal(stderr, '')
  return { status, stdout, last: stdout.trimEnd().split('\n').at(-1) }
}

test('gate counts tests alone on the last line and exits 0 when all passed', (t) => {
  const { status, last } = runGate(t, 'passing')
  assert.deepEqual({ status, last }, { status: 0, last: '2 passed, 0 failed, 0 skipped' })
})

test('gate shows failures in full, with what the file printed, and again at the end', (t) => {
  const { status, last, stdout } = runGate(t, 'failing', 'passing')
  assert.deepEqual({ status, last }, { status: 1, last: '2 passed, 2 failed, 0 skipped' })
  assert.match(stdout, /^FAIL {2}chosen failing\.test\.ts .*0 passed, 2 failed/m)
  assert.match(stdout, /Error: boom\n +at .*failing\.test\.ts/)
  assert.match(stdout, /what it printed:\n +seed 42/)
  assert.match(stdout, /^failed: failing\.test\.ts:2 breaks: Error: boom$/m)
  assert.match(stdout, /^failed: failing\.test\.ts:3 parent > child: Error: bang$/m)
})

test('gate lists what was not run, with the reason', (t) => {
  const { status, last, stdout } = runGate(t, 'skipping')
  assert.deepEqual({ status, last }, { status: 0, last: '1 passed, 0 failed, 2 skipped' })
  assert.match(stdout, /^not run: waits — needs bubblewrap: apt-get install bubblewrap$/m)
  assert.match(stdout, /^not run: rests — no reason given$/m)
})

for (const [name, reason] of [
  ['crashing', 'the file ended with SIGKILL: its tests never came to their end'],
  ['leaving', 'the file ended with exit code 0: its tests never came to their end'],
  ['empty', 'the file ended with exit code 0: its tests never came to their end'],
  ['late', 'the file ended with exit code 1 although every test passed'],
  ['missing', 'the file ended with exit code 1: its tests never came to their end'],
] as const) {
  test(`gate counts a file that is ${name} as a failure`, (t) => {
    const { status, stdout } = runGate(t, name)
    assert.equal(status, 1)
    assert.match(stdout, new RegExp(`^failed: ${name}\\.test\\.ts:1 the file itself: ${reason}$`, 'm'))
    assert.match(stdout, /\n\d passed, 1 failed, 0 skipped\n$/)
  })
}

test('gate does not run by itself what test files share', (t) => {
  const { status, last } = runGate(t, 'empty', 'sharing')
  assert.deepEqual({ status, last }, { status: 0, last: '1 passed, 0 failed, 0 skipped' })
})

test('gate fails when no test was run', (t) => {
  const { status, last, stdout } = runGate(t)
  assert.deepEqual({ status, last }, { status: 1, last: '0 passed, 0 failed, 0 skipped' })
  assert.match(stdout, /^failed: no test was run$/m)
})

test('gate refuses an option that it does not know', () => {
  const { status, stderr } = spawnSync(process.execPath, [gate, '--fast'], { encoding: 'utf8' })
  assert.equal(status, 2)
  assert.match(stderr, /^Cannot run the tests: "--fast" is no option/)
})

test('runTestFile() ends a file, with all it started, at the time limit', async (t) => {
  const root = folder(t, [])
  const child = `import { spawn } from 'node:child_process'\nspawn('sleep', ['600'])\n`
  writeFileSync(join(root, 'hanging.test.ts'), `${child}${head}test('passes', () => {})\n`)
  const { tests } = await runTestFile('hanging.test.ts', { root, timeoutMs: 1000 })
  const reasons = tests.filter(({ outcome }) => outcome === 'failed').map(({ reason }) => reason)
  assert.deepEqual(reasons, ['the file did not end within 1 s: its tests never came to their end'])
})

test('runTestFile() ends what a file left running, and says so', async (t) => {
  if (process.platform !== 'linux') return t.skip('needs /proc to see processes: run on Linux')
  const root = folder(t, [])
  const child = `import { spawn } from 'node:child_process'\nspawn('sleep', ['600'], { stdio: 'ignore' }).unref()\n`
  writeFileSync(join(root, 'untidy.test.ts'), `${child}${head}test('passes', () => {})\n`)
  const { tests } = await runTestFile('untidy.test.ts', { root, timeoutMs: 20_000 })
  assert.match(tests.at(-1)?.reason ?? '', /^the file left running: sleep \(\d+\)$/)
})
