/**
 * Where the parts of an answer go: the result to stdout, logs and notes to stderr, all of it whole
 * where no person reads along.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { binary, effects, metier, workspace } from '#test'

const large = `return Array.from({ length: 5000 }, (_, index) => 'line ' + index)`
const isWhole = (text: string) => (JSON.parse(text) as string[]).at(-1) === 'line 4999'

test('execute writes a large result whole into a pipe and into a file, and result does too', async (t) => {
  const space = workspace(t)
  const file = join(space.folder, 'out.json')
  const piped = await metier(space, ['execute', 'many', '--code', '-'], { input: large })
  assert(isWhole(piped.stdout), piped.stdout.slice(0, 100))
  const filed = await metier(space, ['execute', 'many', '--code', '-', '-o', file], { input: large })
  assert.deepEqual([filed.code, filed.stdout], [0, ''])
  assert.match(filed.stderr, /written to .*out\.json/)
  assert(isWhole(readFileSync(file, 'utf8')))
  const run = /run ([0-9a-f-]{36})/.exec(filed.stderr)![1]!
  assert(isWhole((await metier(space, ['result', run])).stdout))
  assert.equal((await metier(space, ['result', run, '--path', '/4999'])).stdout, '"line 4999"\n')
  assert.equal((await metier(space, ['result', run, '--path', '/4999', '-o', file])).stdout, '')
  assert.equal(readFileSync(file, 'utf8'), '"line 4999"\n')
  const small = await metier(space, ['call', 'fx:read', '{"key":"a"}', '-o', file])
  assert.equal(small.code, 0, small.stderr)
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { key: 'a', value: null })
})

test('execute shows a preview of a large result at a terminal', (t) => {
  const space = workspace(t)
  const env = { ...process.env, METIER_HOME: space.home, METIER_CONFIG: space.file, NO_COLOR: '1' }
  const typed = `${binary} execute many --code - 2>/dev/null`
  const ran = spawnSync('script', ['-qec', typed, '/dev/null'], { input: `${large}\n\u0004`, env, encoding: 'utf8' })
  if (ran.error) return t.skip('needs script(1)')
  assert.match(ran.stdout, /"line 0"/)
  assert.doesNotMatch(ran.stdout, /"line 4999"/)
  assert.match(ran.stdout, /…/)
})

test('what a program printed is seen on stderr, in the answer, in a failure and in run show', async (t) => {
  const space = workspace(t)
  const code = `console.log('one', { a: 1 }); console.warn('two'); if (args.fail) throw new Error('no'); return 3`
  const ran = await metier(space, ['execute', 'prints', '--code', '-'], { input: code })
  assert.equal(ran.stdout, '3\n')
  assert.match(ran.stderr, /^one \{.*a.*1.*\}\nwarn: two\n/)
  const failed = await metier(space, ['execute', 'prints', '--code', '-', '--args', '{"fail":true}', '--json'], {
    input: code,
  })
  assert.equal(failed.json.status, 'failed')
  assert.equal(failed.json.logs.length, 2)
  assert.equal(failed.json.logs[1], 'warn: two')
  const shown = await metier(space, ['run', 'show', failed.json.run])
  assert.match(shown.stdout, /\| warn: two/)
  const many = `for (let i = 0; i < 500; i++) console.log('line ' + i); return 1`
  const bounded = await metier(space, ['execute', 'prints', '--code', '-', '--json'], { input: many })
  assert.match(bounded.json.logs[0], /^… 480 earlier/)
  assert.equal(bounded.json.logs.at(-1), 'line 499')
})

test('a dry run is marked wherever it is met, and shows what it would call with which arguments', async (t) => {
  const space = workspace(t)
  const code = `const { value } = await mcp.fx.read({ key: 'a' }); await mcp.fx.put({ key: 'b', value: args.n }); return value`
  const execute = (...more: string[]) =>
    metier(space, ['execute', 'copies', '--code', '-', '--args', '{"n":7}', '--dry-run', ...more], { input: code })
  const person = await execute()
  assert.match(person.stderr, /would call:\n {2}1 {2}fx:read \{"key":"a"\}\n {2}2 {2}fx:put \{"key":"b","value":7\}/)
  assert.match(person.stderr, /≈ dry-run, nothing was called: done/)
  const { json } = await execute('--json')
  assert.equal(json.mode, 'dry-run')
  assert.deepEqual(
    json.calls.map(({ tool, args }: { tool: string; args: unknown }) => [tool, args]),
    [
      ['fx:read', { key: 'a' }],
      ['fx:put', { key: 'b', value: 7 }],
    ],
  )
  assert.match((await metier(space, ['run', 'show', json.run])).stdout, /dry-run, nothing was called: done/)
  assert.equal((await metier(space, ['run', 'show', json.run, '--json'])).json.mode, 'dry-run')
  assert.deepEqual(effects(space), [])
})

test('execute --wait that leaves a run behind says how to go on', async (t) => {
  const space = workspace(t)
  const left = await metier(space, ['execute', 'slow', '--code', '-', '--wait', '1'], {
    input: 'await sleep(3000); return 5',
  })
  const [, command] = /go on with: metier (run resume \S+)/.exec(left.stderr) ?? []
  assert.ok(command, left.stderr)
  assert.equal((await metier(space, command.split(' '))).stdout, '5\n')
})
