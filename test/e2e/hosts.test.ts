/**
 * Real hosts, configured by `metier connect`: they list our tools, discover, execute, and ask their
 * human.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import {
  claude,
  codex,
  codexWithHuman,
  done,
  metier,
  modelStub,
  type Step,
  serve,
  hostsMissing as skip,
  type Workspace,
  workspace,
} from '#test'

const policy = { permissions: 'standard', rules: [] }
const put = `await mcp.fx.put({ key: 'a', value: 1 }); return (await mcp.fx.read({ key: 'a' })).value`
const add = `return (await mcp.fx.add({ key: 'n', by: 4 })).total`
const discover: Step = { tool: 'discover', input: { intent: 'add a number to a counter' } }
const execute = (code: string): Step => ({ tool: 'execute', input: { implementation: { type: 'code', code } } })

/** The model makes these calls, one after the other, and then says so. */
const script = (steps: Step[]) => (results: string[]) => steps[results.length] ?? { say: 'That was all.' }

/** The configuration learns on which port the gateway is, so that `connect --http` finds it. */
async function gateway(t: TestContext, space: Workspace) {
  const door = await serve(t, space)
  const http = { host: '127.0.0.1', port: Number(new URL(door.url).port) }
  writeFileSync(space.file, JSON.stringify({ ...JSON.parse(readFileSync(space.file, 'utf8')), http }))
  return door
}

for (const transport of ['stdio', 'http'] as const) {
  test(`Claude Code lists our tools, discovers and executes over ${transport}; without a screen it is told at once who must approve`, {
    skip,
    timeout: 180_000,
  }, async (t) => {
    const space = workspace(t, { config: { policy } })
    const door = transport === 'http' ? await gateway(t, space) : null
    const connected = await metier(space, ['connect', 'claude-code', '--home', space.home, ...(door ? ['--http'] : [])])
    assert.equal(connected.code, 0, connected.stderr)
    const stub = await modelStub(t, script([discover, execute(put), execute(add)]))
    const { code, stdout, stderr } = await claude(space, stub, 'count')
    assert.equal(code, 0, stdout + stderr)
    assert.equal(JSON.parse(stdout).result, 'That was all.')
    const ours = stub.tools().filter((name) => name.includes('metier'))
    assert.deepEqual(
      ours.sort(),
      ['discover', 'execute', 'result'].map((name) => `mcp__metier__${name}`),
    )
    const [found, stored, asked] = stub.results().map((text) => JSON.parse(text))
    assert.equal(found.results[0].id, 'fx:add')
    assert.deepEqual([stored.status, stored.result], ['done', 1])
    assert.equal(asked.status, 'approval_required', 'the form was closed, and nobody was asked again')
    const [{ id, url, command, args }] = asked.approvals
    // The host was given both; a shell in the same folder finds the configuration by itself.
    const options = ` --home ${space.home}`
    assert.deepEqual([args, command], [{ key: 'n', by: 4 }, `metier approve ${id}${door === null ? options : ''}`])
    assert.equal(url, door === null ? null : `${door.url}/approvals/${id}`)
    const approved = await metier(space, ['approve', id, '--json'])
    assert.equal(approved.code, 0, approved.stdout + approved.stderr)
    while (done(space, 'add').length === 0) await new Promise((resolve) => setTimeout(resolve, 20))
  })

  test(`Codex lists our tools, discovers and executes over ${transport}, and lets its human approve in a form`, {
    skip,
    timeout: 180_000,
  }, async (t) => {
    const space = workspace(t, { config: { policy } })
    const door = transport === 'http' ? await gateway(t, space) : null
    assert.equal((await metier(space, ['connect', 'codex', '--home', space.home, ...(door ? ['--http'] : [])])).code, 0)
    const stub = await modelStub(t, script([discover, execute(put), execute(add)]))
    const forms: string[] = []
    await codexWithHuman(t, space, stub, 'count', ({ message }) => {
      forms.push(message)
      const isChoice = message.startsWith('Allow fx:add?')
      return { action: 'accept', content: isChoice ? { decision: 'change' } : { arguments: '{"key":"n","by":5}' } }
    })
    const [found, stored, added] = stub.results()
    assert.match(found!, /fx:add/)
    assert.match(stored!, /done/)
    assert.match(added!, /\\?"result\\?":5/)
    assert.equal(forms.length, 2)
    assert.match(forms[0]!, /Allow fx:add\?[\s\S]*"by":4/)
    assert.deepEqual(
      done(space, 'add').map(({ args }) => args),
      [{ key: 'n', by: 5 }],
    )
  })
}

test('Codex without a screen gets an answer at once, never a hang', { skip, timeout: 180_000 }, async (t) => {
  const space = workspace(t, { config: { policy } })
  await metier(space, ['connect', 'codex', '--home', space.home])
  const stub = await modelStub(t, script([execute(add)]))
  const { code, stderr } = await codex(space, stub, 'count')
  assert.equal(code, 0, stderr)
  assert.equal(stub.results().length, 1)
  assert.match(stub.results()[0]!, /approval_required|APPROVAL_DENIED/)
  assert.equal(done(space, 'add').length, 0)
})
