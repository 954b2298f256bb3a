/** A person at a real terminal is asked there, and answers with one key. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { binary, done, metier, openScreen, serve, tmuxMissing as skip, type Workspace, workspace } from '#test'

const config = { policy: { permissions: 'standard', rules: [] } }
const call = (key: string) => ['call', 'fx:add', JSON.stringify({ key, by: 4 })]

async function shell(t: TestContext, space: Workspace) {
  const env = { PATH: process.env.PATH!, HOME: space.folder, METIER_HOME: space.home, METIER_CONFIG: space.file }
  const screen = await openScreen(t, {
    command: ['sh'],
    folder: space.folder,
    env: { ...env, PS1: '$ ' },
    columns: 160,
  })
  const run = (words: string[]) => screen.enter([binary, ...words].map((word) => `'${word}'`).join(' '))
  return { screen, run }
}

test('call at a terminal asks there: y makes the call, n refuses it, e changes it, s leaves it open', {
  skip,
  timeout: 240_000,
}, async (t) => {
  const space = workspace(t, { config })
  const { screen, run } = await shell(t, space)
  const asked = async (key: string, answer: string) => {
    await run(call(key))
    const seen = await screen.shows(new RegExp(`"key": "${key}"[\\s\\S]*y once`))
    assert.match(seen, /asked because: permissions "standard"/)
    await screen.press(answer)
  }
  await asked('yes', 'y')
  await screen.shows(/"total": 4[\s\S]*✓ done/)
  await asked('no', 'n')
  await screen.shows(/APPROVAL_DENIED/)
  await asked('edit', 'e')
  await screen.shows(/arguments: \{"key":"edit","by":4\}/)
  await screen.press('BSpace', 'BSpace')
  await screen.enter('9}')
  await screen.shows(/"total": 9/)
  await asked('open', 's')
  await screen.shows(/\? approval_required/)
  assert.deepEqual(
    done(space, 'add').map(({ args }) => args),
    [
      { key: 'yes', by: 4 },
      { key: 'edit', by: 9 },
    ],
  )
  assert.equal((await metier(space, ['approvals', '--json'])).json.length, 1)
})

test('approvals watch answers by key what waits elsewhere, and serve tells at its terminal that something waits', {
  skip,
  timeout: 240_000,
}, async (t) => {
  const space = workspace(t, { config })
  const gateway = await serve(t, space)
  const { screen, run } = await shell(t, space)
  await run(['approvals', 'watch'])
  await screen.shows(/Each question is shown as it comes/)
  const first = await metier(space, [...call('watched'), '--json'])
  const [{ id }] = first.json.approvals
  for (let i = 0; i < 200 && !gateway.stderr().includes(id); i++) await pause(50)
  assert.match(gateway.stderr(), new RegExp(`fx:add .* waits for an answer: metier approve ${id} .*/approvals/${id}`))
  await screen.shows(/"key": "watched"[\s\S]*y once/)
  await screen.press('a')
  await screen.shows(/recorded/)
  for (let i = 0; i < 200 && done(space, 'add').length === 0; i++) await pause(50)
  assert.equal(done(space, 'add').length, 1)
  const standing = (await metier(space, ['policy', '--json'])).json.standing
  assert.deepEqual(standing[0].rule, { tool: 'fx:add', then: 'allow' })
  writeFileSync(space.file, readFileSync(space.file, 'utf8').replace('"rules":[]', '"rules":[{"then":"ask"}]'))
  const second = (await metier(space, [...call('elsewhere'), '--json'])).json.approvals[0].id
  await screen.shows(/"key": "elsewhere"[\s\S]*y once/)
  assert.equal((await metier(space, ['deny', second, '--no-resume'])).code, 0)
  await screen.shows(/it was answered elsewhere/)
  await screen.press('C-c')
  await screen.shows(/\^C[#$]/)
})
