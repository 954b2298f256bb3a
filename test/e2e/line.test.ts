/**
 * The line through every folder, driven from outside: discover, execute, page, look, verify, notice
 * a changed byte.
 */
import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { done, effects, metier, serve, workspace } from '#test'

const program = `
const before: { value: unknown } = await mcp.fx.read({ key: 'a' })
await mcp.fx.put({ key: 'a', value: args.value })
const totals = await Promise.all([1, 2, 3].map((by) => tool('fx:add', { key: 'n', by })))
const after = await mcp['fx']['read']({ key: 'a' })
console.log('best', Math.max(...totals.map((t) => t.total)))
return { before: before.value, after: after.value, best: Math.max(...totals.map((t) => t.total)) }`

test('discover finds the tool for an intent, lets an exact name win, and abstains', async (t) => {
  const space = workspace(t)
  const found = await metier(space, ['discover', 'add a number to a counter', '--json'])
  assert.equal(found.json.status, 'found', found.stderr)
  assert.equal(found.json.results[0].id, 'fx:add')
  assert.match(found.json.results[0].input, /by: number/)
  assert.equal(found.json.results[0].effect, 'unsafe')
  const exact = await metier(space, ['discover', 'fx:big', '--json'])
  assert.equal(exact.json.results[0].id, 'fx:big')
  const nothing = await metier(space, ['discover', 'translate Sanskrit poetry into whale song', '--json'])
  assert.equal(nothing.json.status, 'nothing_fits')
  assert.equal(nothing.code, 0)
})

test('execute runs a TypeScript program in its box, with every call on the record before and after', async (t) => {
  const space = workspace(t)
  const ran = await metier(space, ['execute', 'store and count', '--code', '-', '--args', '{"value":[1]}', '--json'], {
    input: program,
  })
  assert.equal(ran.json?.status, 'done', ran.stdout + ran.stderr)
  assert.deepEqual(ran.json.result, { before: null, after: [1], best: 6 })
  assert.equal(done(space, 'add').length, 3)
  assert.ok(['os', 'gvisor'].includes(ran.json.isolation.tier), JSON.stringify(ran.json.isolation))

  const shown = await metier(space, ['audit', 'show', ran.json.run, '--json'])
  const events = shown.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    events.map(({ n }) => n),
    events.map((_, index) => index + 1),
  )
  for (const call of ['1', '2', '3', '4', '5', '6']) {
    const types = events.filter(({ body }) => body.call === call).map(({ type }) => type)
    assert.deepEqual(types, ['call.issued', 'call.sent', 'call.resolved'], `call ${call}`)
  }
  assert.equal(events.at(0).type, 'run.started')
  assert.equal(events.at(-1).type, 'run.finished')
  assert.ok(events.some(({ type, body }) => type === 'run.logged' && body.lines[0].text === 'best 6'))

  const looked = await metier(space, ['run', 'show', ran.json.run, '--json'])
  assert.equal(looked.json.calls.length, 6)
  assert.deepEqual(
    (await metier(space, ['runs', '--json'])).json.map(({ status }: { status: string }) => status),
    ['done'],
  )
})

test('execute runs a graph whose arguments are bound to results', async (t) => {
  const space = workspace(t)
  const tasks = [
    { id: 'put', tool: 'fx:put', arguments: { key: 'b', value: 41 } },
    { id: 'get', tool: 'fx:read', arguments: { key: 'b' }, dependsOn: ['put'] },
    { id: 'add', tool: 'fx:add', arguments: { key: 'm', by: { $from: 'get', path: '/value' } } },
  ]
  const ran = await metier(space, ['execute', '--dag', '-', '--json'], { input: JSON.stringify({ tasks }) })
  assert.equal(ran.json?.status, 'done', ran.stdout + ran.stderr)
  assert.deepEqual(ran.json.result, { key: 'm', total: 41 })
  assert.deepEqual(
    ran.json.calls.map(({ task }: { task: string }) => task),
    ['put', 'get', 'add'],
  )
  const wrong = await metier(space, ['execute', '--dag', '-', '--json'], {
    input: JSON.stringify({ tasks: tasks.slice(2) }),
  })
  assert.equal(wrong.code, 1)
  assert.equal(wrong.json.error.code, 'PLAN_INVALID')
})

test('execute fails with the error of the tool, and refuses bad arguments before the call', async (t) => {
  const space = workspace(t)
  const input = 'const x: number = 1\nawait mcp.fx.flaky({ key: "z", failures: 99 })\nreturn x'
  const failed = await metier(space, ['execute', '--code', '-', '--json'], { input })
  assert.equal(failed.code, 1)
  assert.equal(failed.json.status, 'failed')
  assert.equal(failed.json.error.code, 'TOOL_ERROR')
  assert.equal(failed.json.error.context.tool, 'fx:flaky')
  const invalid = await metier(space, ['call', 'fx:add', '{"key":1}', '--json'])
  assert.equal(invalid.code, 1)
  assert.match(invalid.json.error.code, /INVALID_INPUT_PARAM|MISSING_REQUIRED_PARAM/)
  assert.ok(!effects(space).some(({ args }) => args.key === 1))
})

test('a large result comes as preview, size and handle, and is paged', async (t) => {
  const space = workspace(t)
  const big = await metier(space, ['call', 'fx:big', '{"bytes":200000}', '--json'])
  assert.equal(big.json?.status, 'done', big.stdout + big.stderr)
  assert.equal(big.json.result, undefined)
  assert.ok(big.json.bytes > 200_000 && big.stdout.length < 4000)
  const args = ['result', big.json.handle.run, '--path', '/text', '--offset', '100', '--limit', '50', '--json']
  const page = await metier(space, args)
  assert.equal(page.json.text, 'x'.repeat(50))
  assert.equal(page.json.next, 150)
})

test('audit verify names a changed event and notices a removed one', async (t) => {
  const space = workspace(t)
  await metier(space, ['execute', '--code', '-', '--args', '{"value":1}', '--json'], { input: program })
  const whole = await metier(space, ['audit', 'verify', '--json'])
  assert.equal(whole.code, 0, whole.stdout)
  assert.ok(whole.json.events > 20)
  const copy = `${space.home}-copy`
  cpSync(space.home, copy, { recursive: true })
  const changed = tamper(space.home, (db, { run, n }) => {
    db.prepare(`UPDATE event SET line = replace(line, '"by":2', '"by":5') WHERE run = ? AND n = ?`).run(run, n)
  })
  const broken = await metier(space, ['audit', 'verify', '--json'])
  assert.equal(broken.code, 7)
  assert.deepEqual(broken.json.firstBad, changed)
  tamper(copy, (db, { run, n }) => void db.prepare('DELETE FROM event WHERE run = ? AND n = ?').run(run, n))
  const short = await metier(space, ['audit', 'verify', '--json', '--home', copy])
  assert.equal(short.code, 7)
  assert.equal(short.json.ok, false)
})

test('a host finds three tools at the door and runs a program through it', async (t) => {
  const space = workspace(t)
  const gateway = await serve(t, space)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)))
  const { tools } = await client.listTools()
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['discover', 'execute', 'result'],
  )
  const code = 'return (await mcp.fx.add({ key: "n", by: 4 })).total'
  const answer = await client.callTool({
    name: 'execute',
    arguments: { intent: 'add', implementation: { type: 'code', code } },
  })
  assert.equal((answer.structuredContent as { status: string }).status, 'done', JSON.stringify(answer))
  assert.equal((answer.structuredContent as { result: number }).result, 4)
  await client.close()
  const foreign = await fetch(`${gateway.url}/mcp`, {
    method: 'POST',
    body: '{}',
    headers: { origin: 'http://evil.example' },
  })
  assert.equal(foreign.status, 403)
  assert.equal(await gateway.stop('SIGTERM'), 0, gateway.stderr())
})

function tamper(
  home: string,
  change: (db: DatabaseSync, event: { run: string; n: number }) => void,
): { run: string; n: number } {
  const db = new DatabaseSync(`${home}/metier.db`)
  for (const { name } of db.prepare(`SELECT name FROM sqlite_master WHERE type = 'trigger'`).all())
    db.exec(`DROP TRIGGER "${name}"`)
  const { run, n } = db.prepare(`SELECT run, n FROM event WHERE instr(line, '"by":2') ORDER BY seq LIMIT 1`).get() as {
    run: string
    n: number
  }
  change(db, { run, n })
  db.close()
  return { run, n }
}
