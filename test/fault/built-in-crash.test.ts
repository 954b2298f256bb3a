/** A process that dies while a built-in tool runs: a read is made again, what could have reached the outside is a human's to settle. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metier, openSpace, type Workspace, whyNot, workspace } from '#test'

const tool = 'metier:execute_script_in_sandbox'

async function killed(space: Workspace, networkPolicy: string): Promise<string> {
  const script = { interpreter: 'bash', scriptContent: 'sleep 3; echo done', config: { tier: 'os', networkPolicy } }
  const verbs = await openSpace(space)
  const sent = () => {
    const [newest] = verbs.runs() as { run: string }[]
    return newest !== undefined && verbs.lines(newest.run).some((line) => line.includes('"call.sent"'))
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
  const run = await killed(space, 'NONE')
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
  const run = await killed(space, 'OUTBOUND_LIMITED')
  const resumed = await metier(space, ['run', 'resume', run, '--json'])
  assert.deepEqual([resumed.code, resumed.json?.status], [8, 'uncertain'], resumed.stdout)
})
