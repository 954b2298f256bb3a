/** Capabilities at a terminal: each command, its JSON, its exit code, and what it refuses. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { metier, type Ran, type Workspace, workspace } from '#test'

const read = (space: Workspace, key: string) =>
  metier(space, ['execute', `Look up the colour of ${key}`, '--code', '-', '--json'], {
    input: `return (await mcp.fx.read({ key: '${key}' })).value`,
  })
const capabilities = (space: Workspace, ...words: string[]) => metier(space, ['capabilities', ...words, '--json'])
const id = 'cap:look_up_colour'

/** Each command learns a little more before it ends. */
async function until(look: () => Promise<Ran>, isFound: (ran: Ran) => boolean): Promise<Ran> {
  for (let tries = 0; tries < 20; tries++) {
    const ran = await look()
    if (isFound(ran)) return ran
  }
  assert.fail('what was waited for did not come')
}

test('capabilities: list, show, verify, disable, enable, export and forget', async (t) => {
  const space = workspace(t)
  assert.equal((await read(space, 'apples')).code, 0)
  const found = await until(
    () => capabilities(space, '--status', 'verified'),
    ({ json }) => json.length > 0,
  )
  const { version, status, toolsUsed, executionCount, successRate } = found.json[0]
  assert.deepEqual([found.json[0].id, version, status, toolsUsed], [id, 1, 'verified', ['fx:read']])
  assert.deepEqual([found.code, executionCount, successRate], [0, 0, null])
  const shown = await capabilities(space, 'show', id)
  assert.deepEqual([shown.code, shown.json.source.type, shown.json.fixtures.length], [0, 'code', 1])
  assert.deepEqual(shown.json.versions.length, 1)
  const verified = await capabilities(space, 'verify', `${id}@1`)
  assert.deepEqual([verified.code, verified.json.ok, verified.json.id], [0, true, `${id}@1`])
  const decide = async (word: string, after: string) => {
    const { code, json } = await capabilities(space, word, id)
    assert.equal(code, 0)
    assert.deepEqual(json, { id, status: `${word}d` })
    assert.equal((await capabilities(space)).json[0].status, after)
  }
  await decide('disable', 'disabled')
  await decide('enable', 'verified')
  const plain = await metier(space, ['capabilities', 'export', id])
  assert.deepEqual(JSON.parse(plain.stdout), (await capabilities(space, 'export', id)).json)
  assert.deepEqual((await capabilities(space, 'forget', id)).json, { id, status: 'forgotten' })
  assert.deepEqual((await capabilities(space)).json, [])
  assert.equal((await capabilities(space, 'show', id)).json.error.code, 'TOOL_NOT_FOUND')
})

test('capabilities import: a candidate that no run here speaks for, until one was rehearsed', async (t) => {
  const [space, other] = [workspace(t), workspace(t)]
  await read(space, 'apples')
  await until(
    () => capabilities(space, '--status', 'verified'),
    ({ json }) => json.length > 0,
  )
  const file = join(other.folder, 'capability.json')
  const written = await metier(space, ['capabilities', 'export', id, '-o', file])
  assert.deepEqual([written.code, written.stdout], [0, ''], written.stderr)
  const { source, fixtures } = JSON.parse(readFileSync(file, 'utf8'))
  assert.equal(fixtures.length, 1)
  const imported = await capabilities(other, 'import', file)
  assert.deepEqual([imported.code, imported.json.id, imported.json.status], [0, id, 'candidate'])
  const none = await capabilities(other, 'verify', id)
  assert.deepEqual([none.code, none.json.ok], [1, false])
  assert.match(none.json.why, /no run here/)
  const { run } = (await read(other, 'pears')).json
  await until(
    () => capabilities(other, 'verify', id),
    ({ code }) => code === 0,
  )
  const { json: shown } = await capabilities(other, 'show', id)
  assert.deepEqual([shown.status, shown.version, shown.source], ['verified', 1, source])
  assert.deepEqual([shown.verifiedBy.how, shown.verifiedBy.runs], [['rehearsed'], [run]])
  assert.equal((await capabilities(other)).json.length, 1)
})

test('capabilities: what is not there, or is no capability, is refused with its code', async (t) => {
  const space = workspace(t)
  for (const word of ['show', 'verify', 'disable', 'enable', 'forget', 'export']) {
    for (const wrong of ['cap:none', 'none@2', 'cap:', '../x']) {
      const { code, json } = await capabilities(space, word, wrong)
      assert.deepEqual([code, json?.error?.code], [1, 'TOOL_NOT_FOUND'], `${word} ${wrong}`)
      if (word !== 'show') break
    }
  }
  assert.equal((await capabilities(space, 'show')).code, 2)
  assert.equal((await capabilities(space, '--status', 'lost')).code, 2)
  const file = join(space.folder, 'wrong.json')
  for (const [text, code] of [
    ['no JSON', 2],
    ['{}', 1],
    ['[1]', 1],
  ] as const) {
    writeFileSync(file, text)
    assert.equal((await capabilities(space, 'import', file)).code, code, text)
  }
  assert.notEqual((await capabilities(space, 'import', join(space.folder, 'none.json'))).code, 0)
  assert.deepEqual((await capabilities(space)).json, [])
})
