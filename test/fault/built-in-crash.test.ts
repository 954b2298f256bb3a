/**
 * A process that dies while a built-in tool runs: a read is made again, what could have reached the
 * outside is a human's to settle.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isUuid } from '#model'
import { metier, openSpace, type Workspace, whyNot, workspace } from '#test'

const tool = 'metier:execute_script_in_sandbox'

type Moment = (lines: string[]) => boolean
const isSent: Moment = (lines) => lines.some((line) => line.includes('"call.sent"'))

async function killed(space: Workspace, config: object, scriptContent = 'sleep 3; echo done', when = isSent) {
  const script = { interpreter: 'bash', scriptContent, config: { tier: 'os', ...config } }
  const verbs = await openSpace(space)
  const sent = () => {
    const [newest] = verbs.runs() as { run: string }[]
    return newest !== undefined && when(verbs.lines(newest.run))
  }
  const { killed } = await metier(space, ['call', tool, JSON.stringify(script), '--json'], { killWhen: sent })
  assert.equal(killed, true)
  const [{ run }] = verbs.runs() as [{ run: string }]
  await verbs.close()
  return run
}

test('a script without a network that was killed with its process runs again when the run is resumed', {
  skip: whyNot('os'),
}, async (t) => {
  const space = workspace(t)
  const run = await killed(space, { networkPolicy: 'NONE' })
  const resumed = await metier(space, ['run', 'resume', run, '--json'])
  assert.deepEqual([resumed.json?.status, resumed.json?.result?.stdout], ['done', 'done\n'], resumed.stdout)
  const [call] = (await metier(space, ['run', 'show', run, '--json'])).json.calls
  assert.deepEqual([call.attempts, call.effect], [2, 'read'])
  assert.equal((await metier(space, ['run', 'replay', run, '--json'])).json.ok, true)
})

test('a script with a network that was killed with its process is in doubt, and is not run again', {
  skip: whyNot('os'),
}, async (t) => {
  const space = workspace(t, {
    config: { sandbox: { outbound: ['127.0.0.1:9'] }, policy: { permissions: 'privileged' } },
  })
  const run = await killed(space, { networkPolicy: 'OUTBOUND_LIMITED' })
  const resumed = await metier(space, ['run', 'resume', run, '--json'])
  assert.deepEqual([resumed.code, resumed.json?.status], [8, 'uncertain'], resumed.stdout)
})

test('outputs of a script that was killed with its process, after some of them were stored, are there once when the run is resumed', {
  skip: whyNot('os'),
}, async (t) => {
  const space = workspace(t)
  const folder = join(space.home, 'artifacts')
  const ids = () => (existsSync(folder) ? readdirSync(folder).filter(isUuid) : [])
  const paths = Array.from({ length: 20 }, (_, n) => `/outputs/${n}`)
  const script = 'for i in $(seq 0 19); do head -c 2000000 /dev/zero | tr "\\0" x >/outputs/$i; done; echo done'
  const run = await killed(space, { outputs: paths }, script, () => ids().length > 0)
  const before = ids()
  assert.ok(before.length > 0 && before.length < paths.length, `${before.length} were stored before the kill`)
  const resumed = await metier(space, ['run', 'resume', run, '--json'])
  assert.deepEqual([resumed.json?.status, resumed.json?.result?.missing], ['done', []], resumed.stdout)
  const artifacts = resumed.json.result.artifacts as { artifactID: string }[]
  assert.equal(artifacts.length, paths.length)
  assert.deepEqual(ids().sort(), artifacts.map(({ artifactID }) => artifactID).sort())
  const [call] = (await metier(space, ['run', 'show', run, '--json'])).json.calls
  assert.deepEqual([call.attempts, call.effect], [2, 'idempotent'])
})
