/**
 * `metier sandbox run` and `metier call` of the script tool, from outside: runs of one call like
 * any other.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { metier, whyNot, workspace } from '#test'

const skip = whyNot('os')
const tool = 'metier:execute_script_in_sandbox'
const run = (...more: string[]) => ['sandbox', 'run', '--tier', 'os', '--json', ...more, '-', '--language']

test('sandbox run is a run of one call: listed, shown, verified and replayed', { skip }, async (t) => {
  const space = workspace(t)
  const data = join(space.folder, 'data.csv')
  writeFileSync(data, 'a,1\nb,41\n')
  const { json: stored } = await metier(space, ['artifact', 'put', data, '--json'])
  const input = 'import csv, sys\nprint(sum(int(row[1]) for row in csv.reader(open("/inputs/data.csv"))))\nsys.exit(3)'
  const { code, json, stderr } = await metier(space, [...run('--input', stored.id), 'python'], { input })
  assert.equal(code, 0, stderr)
  const { ms, isolation, run: id, ...rest } = json
  assert.deepEqual(rest, { exitCode: 3, stdout: '42\n', stderr: '', truncated: false })
  assert.deepEqual([typeof ms, isolation.tier], ['number', 'os'])
  const { json: runs } = await metier(space, ['runs', '--json'])
  assert.deepEqual([runs[0].run, runs[0].status, runs[0].callCount], [id, 'done', 1])
  const { json: shown } = await metier(space, ['run', 'show', id, '--json'])
  assert.deepEqual([shown.calls[0].tool, shown.calls[0].value.exitCode], [tool, 3])
  assert.match((await metier(space, ['audit', 'show', id])).stdout, /execute_script_in_sandbox/)
  assert.deepEqual((await metier(space, ['run', 'replay', id, '--json'])).json, { ok: true, run: id, calls: 1 })
  assert.equal((await metier(space, ['audit', 'verify', '--json'])).json.ok, true)
})

test('sandbox run says with its exit code and its error what became of a script that has no result', {
  skip,
}, async (t) => {
  const space = workspace(t)
  const late = await metier(space, [...run('--timeout', '1'), 'bash'], {
    input: 'printf "%05000d" 7; printf "%05000d" 7 >&2; sleep 30',
  })
  assert.deepEqual([late.code, late.json.error.code], [124, 'SANDBOX_TIMEOUT'], late.stdout)
  assert.deepEqual([late.json.error.context.stdout.length, late.json.error.context.stderr.length], [4096, 4096])
  assert.equal(typeof late.json.run, 'string')
  const words: [string[], number, string][] = [
    [[...run(), 'ruby'], 1, 'SANDBOX_INVALID_INTERPRETER'],
    [[...run('--network', 'ALL'), 'bash'], 1, 'INVALID_INPUT_PARAM'],
    [[...run('--network', 'OUTBOUND_LIMITED'), 'bash'], 6, 'PERMISSION_DENIED'],
    [[...run('--timeout', 'soon'), 'bash'], 1, 'INVALID_INPUT_PARAM'],
    [[...run('--input', '019a94c2-0000-7000-8000-000000000000'), 'bash'], 1, 'S3_ARTIFACT_NOT_FOUND'],
  ]
  for (const [args, code, expected] of words) {
    const ran = await metier(space, args, { input: 'true' })
    assert.deepEqual([ran.code, ran.json.error.code], [code, expected], `${args.join(' ')}: ${ran.stdout}${ran.stderr}`)
  }
})

test('call of the script tool clamps its time, replaces what is no UTF-8, and is explained by policy', {
  skip,
}, async (t) => {
  const space = workspace(t)
  const args = { interpreter: 'bash', scriptContent: "printf '\\377x'", config: { tier: 'os', timeoutSeconds: 1000 } }
  const { json, stderr } = await metier(space, ['call', tool, JSON.stringify(args), '--json'])
  assert.deepEqual([json.status, json.result?.stdout, json.result?.clamped], ['done', '�x', true], stderr)
  const explain = async (...more: string[]) =>
    (await metier(space, ['policy', 'explain', tool, ...more, '--json'])).json
  const early = await explain()
  assert.deepEqual([early.then, early.effects, early.effectFrom], [null, ['read', 'idempotent', 'unsafe'], 'built-in'])
  assert.match(early.because, /depends on its arguments/)
  assert.deepEqual((await explain('{"config":{}}')).then, 'allow')
  assert.deepEqual((await explain('{"config":{"outputs":["/outputs/a"]}}')).effect, 'idempotent')
  assert.deepEqual((await explain('{"config":{"networkPolicy":"OUTBOUND_LIMITED"}}')).then, 'ask')
  assert.match((await metier(space, ['tools', 'metier'])).stdout, /read\|idempotent\|unsafe\s+\(built-in\)/)
  const login = await metier(space, ['servers', 'login', 'metier', '--json'])
  assert.deepEqual([login.code, login.json.error.code], [3, 'CONFIG_INVALID'])
  assert.match(login.json.error.message, /its tools run in this process/)
  const { json: doctor } = await metier(space, ['doctor', '--json'])
  const check = doctor.checks.find(({ name }: { name: string }) => name === 'server metier')
  assert.deepEqual(check, { name: 'server metier', ok: true, detail: '19 tools; in this process' })
})
