/** Ids as people give them at a terminal, and the commands that are printed for them. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { binary, done, metier, workspace } from '#test'

const config = { policy: { permissions: 'standard', rules: [] } }
const call = (by: number) => ['call', 'fx:add', `{"key":"n","by":${by}}`, '--json']

test('an id may be given by its start or as @last, and what is unclear or unknown is said with the home', async (t) => {
  const space = workspace(t)
  const first = (await metier(space, call(1))).json.run
  const second = (await metier(space, call(2))).json.run
  const shown = await metier(space, ['run', 'show', '@last', '--json'])
  assert.equal(shown.json.run, second, shown.stderr)
  let length = 6
  while (second.startsWith(first.slice(0, length))) length++
  assert.equal((await metier(space, ['result', first.slice(0, length), '--json'])).json.run, first)
  const unclear = await metier(space, ['run', 'show', first.slice(0, 6), '--json'])
  assert.equal(unclear.code, 1)
  assert.deepEqual(unclear.json.error.context.candidates, [first, second].sort())
  assert.match(unclear.json.error.message, new RegExp(`it may be .*${first}`))
  assert.match((await metier(space, ['run', 'show', first.slice(0, 5)])).stderr, /at least 6 characters/)
  const absent = '00000000-0000-4000-8000-000000000000'
  for (const words of [
    ['run', 'show', absent],
    ['run', 'show', absent.slice(0, 9)],
    ['approve', absent],
    ['deny', '@last'],
    ['artifact', 'get', absent],
    ['purge', absent],
    ['audit', 'show', absent],
  ]) {
    const { code, stderr } = await metier(space, words)
    assert.notEqual(code, 0, words.join(' '))
    assert.ok(stderr.includes(space.home), `${words.join(' ')}: ${stderr}`)
  }
})

test('approve --always SERVER:* lets every tool of the server pass, and no other pattern is taken', async (t) => {
  const space = workspace(t, { config })
  assert.equal((await metier(space, call(1))).code, 5)
  for (const covers of ['other:*', 'fx:a*', '*'])
    assert.equal((await metier(space, ['approve', '@last', '--always', covers])).code, 1, covers)
  assert.equal((await metier(space, ['approve', '@last', 'fx:*'])).code, 2, 'a pattern is for --run or --always')
  const { code, stderr } = await metier(space, ['approve', '@last', '--always', 'fx:*'])
  assert.equal(code, 0, stderr)
  assert.match(stderr, /fx:\* passes without a question in every run/)
  assert.equal((await metier(space, call(2))).json.status, 'done')
  assert.equal((await metier(space, ['call', 'fx:pay', '{"account":"a","amount":3}', '--json'])).json.status, 'done')
  assert.deepEqual((await metier(space, ['policy', '--json'])).json.standing[0].rule, { tool: 'fx:*', then: 'allow' })
})

test('the printed command works in the folder where it is read, also for a home that was named', async (t) => {
  const space = workspace(t, { config })
  const env = { METIER_HOME: '', METIER_CONFIG: '' }
  const beside = (await metier(space, call(1), { env })).json.approvals[0]
  assert.equal(beside.command, `metier approve ${beside.id}`, 'found beside the configuration')
  const home = join(space.folder, "an 'other' home")
  const { command, id } = (await metier(space, [...call(2), '--home', home], { env })).json.approvals[0]
  assert.equal(command, `metier approve ${id} --home '${home.replaceAll("'", "'\\''")}'`)
  const plain = await metier(space, ['approve', id], { env })
  assert.ok(plain.stderr.includes(join(space.folder, '.metier')), plain.stderr)
  const line = command.replace('metier', binary)
  await promisify(execFile)('sh', ['-c', line], { cwd: space.folder, env: { PATH: process.env.PATH } })
  assert.deepEqual(
    done(space, 'add').map(({ args }) => args.by),
    [2],
  )
})
