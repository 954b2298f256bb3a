/**
 * What a person sees who does not know Métier yet: where something is wrong, a message says what,
 * and what to do next.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { binary, metier, workspace } from '#test'

test('doctor examines the machine also where the configuration cannot be read, and says what is wrong with it', async (t) => {
  const space = workspace(t)
  writeFileSync(space.file, '{ "mcpServers": ')
  const { code, json } = await metier(space, ['doctor', '--json'])
  const [node, configuration, ...more] = json.checks as { name: string; ok: boolean; detail: string }[]
  assert.deepEqual([code, json.ok, node!.ok, configuration!.ok], [3, false, true, false])
  assert.match(configuration!.detail, /^Cannot read the configuration ".*": the file: expected a value, at line 1/)
  assert(more.some(({ name, ok }) => name === 'record' && ok))
  const refused = await metier(space, ['runs', '--json'])
  assert.deepEqual([refused.code, refused.json.error.code], [3, 'CONFIG_INVALID'], 'nobody else goes on without it')
})

test('Ctrl-C ends at once a command that only looks, also while a server does not answer', async (t) => {
  const space = workspace(t)
  const mute = { command: 'sh', args: ['-c', `echo >'${join(space.folder, 'started')}'; exec sleep 60`] }
  writeFileSync(space.file, JSON.stringify({ mcpServers: { mute } }))
  const env = { PATH: process.env.PATH!, HOME: space.folder, METIER_HOME: space.home, METIER_CONFIG: space.file }
  const child = spawn(binary, ['tools'], { env, stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  while (!existsSync(join(space.folder, 'started'))) await pause(20)
  const asked = performance.now()
  child.kill('SIGINT')
  const [code] = await once(child, 'exit')
  assert.equal(code, 130)
  assert(performance.now() - asked < 10_000, 'long before the server was given up')
})

test('a command that is not installed is said once, and tools of that server are a failure of its own', async (t) => {
  const space = workspace(t, {
    config: { mcpServers: { fs: { command: 'no-such-command' }, in: { command: 'sh', args: ['-c', 'no-such-part'] } } },
  })
  const { code, stderr } = await metier(space, ['tools', 'fs'])
  assert.equal(code, 4)
  assert.match(stderr, /Cannot reach the server "fs": "no-such-command" was not found\. Check its command/)
  const all = await metier(space, ['tools'])
  assert.equal(all.code, 4)
  assert.match(all.stderr, /"in": it ended with code 127; it wrote: .*no-such-part: not found\./, 'sh itself is there')
})

test('what cannot be found is said with the command that lists what can', async (t) => {
  const space = workspace(t, { config: { mcpServers: {} } })
  const told = async (...args: string[]) => (await metier(space, args)).stderr
  assert.match(await told('run', 'show', 'nope'), /"metier runs" lists them/)
  assert.match(await told('result', 'nope'), /"metier runs" lists them/)
  assert.match(await told('audit', 'show', 'nope'), /"metier runs" lists the runs/)
  assert.match(await told('artifact', 'get', 'nope'), /"metier artifacts" lists them/)
  assert.match(await told('policy', 'explain', 'fs:x'), /"metier tools" lists them/)
  const runs = await metier(space, ['runs', '--home', space.home])
  assert(runs.stdout.includes(`Nothing ran yet in the home ${space.home}.`), 'a home that was not meant is seen')
  const blank = await metier(space, ['discover', ' '])
  assert.equal(blank.code, 2)
  assert.match(blank.stderr, /say in a few words what you want to do/)
  assert.match(await told('call', 'nocolon'), /a tool is named server:name; "metier tools" lists them/)
})

test('policy says what its permission set means, and a checkpoint of nothing that there is nothing to sign', async (t) => {
  const space = workspace(t, { config: { policy: { permissions: 'minimal' } } })
  const { stdout } = await metier(space, ['policy'])
  assert.equal(stdout, 'else: minimal (calls that only read are made, all others are refused)\n')
  assert.match((await metier(space, ['audit', 'checkpoint'])).stdout, /^Nothing to sign/)
})

test('of several commands that are the first in a home at once, each works', async (t) => {
  const space = workspace(t)
  const first = await Promise.all(Array.from({ length: 6 }, () => metier(space, ['runs', '--json'])))
  for (const { code, stdout, stderr } of first) assert.deepEqual([code, stdout], [0, '[]\n'], stderr)
})
