/**
 * Tests of the catalogue against real MCP servers: what they have, what comes of a try, and that
 * nothing of them stays behind.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'
import { type Catalog, openCatalog, signatureOf } from '#catalog'
import { descendantsOf, isAlive, processOf } from '#catalog/processes'
import { type Json, limits, parseConfig, type Tool, type Try } from '#model'
import { root, temporaryFolder } from '#test'

const effectsServer = join(root, 'test', 'servers', 'effects.ts')
const erasServer = join(root, 'test', 'servers', 'eras.ts')

type Setup = {
  folder?: string
  env?: Record<string, string>
  servers?: object
  server?: object
  effects?: object
  secrets?: string[]
}

/** A catalogue with the effects server as `fx`, and others beside it. */
function open(
  t: TestContext,
  { folder = temporaryFolder(t), env = {}, servers = {}, server = {}, effects = {}, secrets = [] }: Setup = {},
) {
  const fx = {
    command: process.execPath,
    args: [effectsServer],
    env: { EFFECTS: join(folder, 'effects.jsonl'), ...env },
  }
  const text = JSON.stringify({ servers: { fx: { ...fx, effects, ...server }, ...servers } })
  const config = parseConfig({ file: null, text, home: folder, env: {}, directory: folder })
  const log: string[] = []
  const catalog = openCatalog({
    servers: config.servers,
    folder: join(folder, 'catalog'),
    baseEnv: { PATH: process.env.PATH!, HOME: '/somewhere' },
    secrets,
    log: (line) => log.push(line),
  })
  t.after(() => catalog.close())
  return { catalog, folder, log, effects: () => effectsOf(folder) }
}

function effectsOf(folder: string): { tool: string; phase: string; pid: number }[] {
  const file = join(folder, 'effects.jsonl')
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []
}

async function toolOf(catalog: Catalog, id: string): Promise<Tool> {
  const tool = await catalog.tool(id)
  assert(tool !== undefined, `there is ${id}`)
  return tool
}

async function attempt(
  catalog: Catalog,
  id: string,
  args: Json,
  options: { signal?: AbortSignal; timeoutMs?: number } = {},
) {
  const { signal = new AbortController().signal, timeoutMs = 10_000 } = options
  return catalog.try(await toolOf(catalog, id), args, { signal, timeoutMs })
}

/** The outcome in short: value, or code of the error. */
function brief(outcome: Try): unknown {
  if (outcome.outcome === 'answered' && outcome.ok) return outcome.value
  return `${outcome.outcome} ${outcome.error.code}`
}

const toolsOfEffects = 11

test('tools() lists what a server has, with effect classes and where they came from', async (t) => {
  const { catalog } = open(t, { effects: { pay: 'keyed:idempotency_key', read: 'unsafe' } })
  const { tools, problems } = await catalog.tools()
  assert.deepEqual(problems, [])
  const effects = Object.fromEntries(tools.map(({ id, effect, effectFrom }) => [id, `${effect} by ${effectFrom}`]))
  assert.deepEqual(effects, {
    'fx:read': 'unsafe by configuration',
    'fx:put': 'idempotent by annotations',
    'fx:add': 'unsafe by default',
    'fx:pay': 'keyed:idempotency_key by configuration',
    'fx:wait': 'read by annotations',
    'fx:flaky': 'read by annotations',
    'fx:big': 'read by annotations',
    'fx:rows': 'read by annotations',
    'fx:think': 'read by annotations',
    'fx:die': 'read by annotations',
    'fx:environment': 'read by annotations',
  })
  assert.match(tools[0]!.digest, /^[0-9a-f]{64}$/)
})

test('try() answers with the value, the error of the tool, or the error of the protocol', async (t) => {
  const { catalog } = open(t, { servers: { eras: { command: process.execPath, args: [erasServer] } } })
  assert.deepEqual(brief(await attempt(catalog, 'fx:add', { key: 'a', by: 2 })), { key: 'a', total: 2 })
  assert.deepEqual(brief(await attempt(catalog, 'eras:echo', { word: 'plain text' })), 'plain text')
  assert.deepEqual(brief(await attempt(catalog, 'eras:echo', { word: '{"a":1}' })), { a: 1 })
  const failed = await attempt(catalog, 'fx:flaky', { key: 'k', failures: 1 })
  assert.equal(brief(failed), 'answered TOOL_ERROR')
  assert(failed.outcome === 'answered' && !failed.ok)
  assert.match(failed.error.message, /Cannot complete "fx:flaky": failed 1 of 1 times/)
  assert.deepEqual(failed.error.context, { tool: 'fx:flaky' })
  const gone = { ...(await toolOf(catalog, 'eras:echo')), name: 'gone' }
  const { signal } = new AbortController()
  assert.equal(brief(await catalog.try(gone, {}, { signal, timeoutMs: 5000 })), 'answered TOOL_ERROR')
})

test('try() hands a server whole lines, also one that takes other signs for the end of a line', async (t) => {
  const { catalog } = open(t)
  const key = 'one\u2028two\u2029three'
  assert.deepEqual(brief(await attempt(catalog, 'fx:add', { key, by: 2 })), { key, total: 2 })
})

test('try() gives a server PATH, HOME and what its configuration names, and its folder', async (t) => {
  const { catalog, folder } = open(t, { env: { OWN: '1' } })
  const names = ['EFFECTS', 'HOME', 'OWN', 'PATH']
  assert.deepEqual(brief(await attempt(catalog, 'fx:environment', {})), { names, folder })
})

test('problemOfServer() says why a server could not be asked, and nothing of one that answers', async (t) => {
  const { catalog } = open(t, { servers: { none: { command: 'no-such-command' } } })
  assert.equal(await catalog.tool('none:anything'), undefined)
  const problem = catalog.problemOfServer('none:anything')
  assert.equal(problem?.code, 'UPSTREAM_UNREACHABLE')
  assert.match(problem.message, /"no-such-command" was not found/)
  assert.equal(await catalog.tool('fx:nothing'), undefined)
  for (const id of ['fx:nothing', 'other:thing', 'nonsense']) assert.equal(catalog.problemOfServer(id), null)
})

test('try() of a server that cannot start was not sent, and says what the server said', async (t) => {
  const silent = { command: 'sh', args: ['-c', 'echo "no licence found" >&2; exit 3'] }
  const lost = { command: 'true', cwd: 'nowhere' }
  const { catalog } = open(t, { servers: { none: { command: 'no-such-command' }, silent, lost } })
  const { signal } = new AbortController()
  const add = await toolOf(catalog, 'fx:add')
  const sayings = {
    none: /"no-such-command" was not found/,
    silent: /it ended with code 3; it wrote: no licence found/,
  }
  for (const [server, saying] of Object.entries(sayings)) {
    const outcome = await catalog.try({ ...add, server }, {}, { signal, timeoutMs: 1000 })
    assert.equal(brief(outcome), 'not_sent UPSTREAM_UNREACHABLE')
    assert(outcome.outcome === 'not_sent')
    assert.match(outcome.error.message, saying)
    assert.match(outcome.error.message, /metier doctor/)
  }
})

test('problemOfServer() names the variables of a server that are not set', async (t) => {
  const env = { TOKEN: '${NOT_SET_A}', OTHER: '${env:NOT_SET_B} ${NOT_SET_A}' }
  const { catalog } = open(t, { servers: { open: { command: 'false', env } } })
  await catalog.tools({ server: 'open' })
  const says = /it ended with code 1; not set: NOT_SET_A, NOT_SET_B\. Check/
  assert.match(catalog.problemOfServer('open:x')!.message, says)
})

test('problemOfServer() keeps quiet about secrets, whatever the server wrote before it ended', async (t) => {
  const secret = 'very-secret-value'
  const servers = { told: { command: 'sh', args: ['-c', 'echo "not $TOKEN" >&2; exit 3'], env: { TOKEN: secret } } }
  const { catalog } = open(t, { servers, secrets: [secret] })
  await catalog.tools({ server: 'told' })
  const problem = catalog.problemOfServer('told:x')
  assert.match(String(problem), /it wrote: not «secret»/)
  assert(!inspect(problem, { depth: 9 }).includes(secret))
})

/** A server that lists one tool and then does as the script says when it is called. */
function misbehaving(onCall: string): object {
  const script = `
    const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line)
      const hello = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
      if (method === 'initialize') say(id, hello)
      if (method === 'tools/list') say(id, { tools: [{ name: 'call', inputSchema: { type: 'object' } }] })
      if (method === 'tools/call') { ${onCall} }
    })
    setTimeout(() => {}, 30000)`
  return { command: process.execPath, args: ['-e', script] }
}

/** A server that answers the question for its tools with this. */
function listing(result: object): object {
  const server = misbehaving('') as { args: string[] }
  const script = server.args[1]!.replace(/say\(id, \{ tools: .*\)$/m, `say(id, ${JSON.stringify(result)})`)
  return { ...server, args: ['-e', script] }
}

test('tools() is not spoiled by a tool that its server describes badly', async (t) => {
  const tools = [
    { name: 'good', description: 'Good.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
    { name: 'bare' },
    {
      name: 'odd',
      description: null,
      inputSchema: { properties: null },
      annotations: { readOnlyHint: 'yes', title: 1 },
    },
    { name: 'list', inputSchema: { type: 'object' }, outputSchema: { type: 'array' } },
    ...[null, 7, {}, { name: 5 }],
  ]
  const { catalog } = open(t, { servers: { odd: listing({ tools }), none: listing({ tools: 'none' }) } })
  const found = await catalog.tools({ server: 'odd' })
  assert.deepEqual(
    found.tools.map(({ name, description, effect, input }) => [name, description, effect, input.type]),
    [
      ['good', 'Good.', 'read', 'object'],
      ['bare', '', 'unsafe', 'object'],
      ['odd', '', 'unsafe', 'object'],
      ['list', '', 'unsafe', 'object'],
    ],
  )
  const { problems } = await catalog.tools({ server: 'none' })
  assert.match(String(problems[0]?.error), /Cannot reach the server "none": Invalid result for tools\/list/)
})

test('tools() leaves out what has a name that nobody could read or would misread, and says so', async (t) => {
  const names = ['Read File', 'lies\nfx:read  read', 'back\u202ewards', '\ud800', '', 'x'.repeat(300), 'straße.2']
  const tools = names.map((name) => ({ name, inputSchema: { type: 'object' } }))
  const { catalog, log } = open(t, { servers: { odd: listing({ tools }) } })
  const found = (await catalog.tools({ server: 'odd' })).tools
  assert.deepEqual(
    found.map(({ id }) => id),
    ['odd:Read File', 'odd:straße.2'],
  )
  assert(log.some((line) => /^odd: 5 of its tools are left out/.test(line)))
})

test('try() leaves a server alone that cannot be started, until it is asked for its tools', async (t) => {
  const start = ['-c', 'echo >>starts; test -e ready && exec "$0" "$1"', process.execPath, effectsServer]
  const { catalog, folder } = open(t, { servers: { none: { command: 'sh', args: start } } })
  const add = { ...(await toolOf(catalog, 'fx:add')), id: 'none:add', server: 'none' }
  const { signal } = new AbortController()
  const args = { key: 'k', by: 1 }
  const once = async () => brief(await catalog.try(add, args, { signal, timeoutMs: 5000 }))
  for (let round = 0; round < 10; round++) assert.equal(await once(), 'not_sent UPSTREAM_UNREACHABLE')
  assert.equal(readFileSync(join(folder, 'starts'), 'utf8').length, limits.upstreamFreeStartsMax)
  writeFileSync(join(folder, 'ready'), '')
  assert.deepEqual((await catalog.tools({ server: 'none', refresh: true })).problems, [])
  assert.deepEqual(await once(), { key: 'k', total: 0 })
})

test('try() survives a server that lives on but does not talk, does not listen, or talks nonsense', async (t) => {
  const { catalog } = open(t, {
    servers: {
      mute: misbehaving(`require('node:fs').closeSync(1)`),
      deaf: misbehaving(`say(id, { content: [] }); process.stdin.destroy(); require('node:fs').closeSync(0)`),
      noisy: misbehaving(
        `console.log('starting…\\n{"jsonrpc":"1.0"}\\n[]\\n{'); say(id, { content: [{ type: 'text', text: 'fine' }] })`,
      ),
      wrong: misbehaving(`say(id, { content: 'no list' })`),
      partless: misbehaving(`say(id, { content: ['no part'] })`),
      textless: misbehaving(`say(id, { content: [{ type: 'text', text: 5 }] })`),
      unsure: misbehaving(`say(id, { content: [], isError: 'maybe' })`),
      bare: misbehaving(`say(id, 'no object')`),
      empty: misbehaving(`say(id, {})`),
      new: misbehaving(`say(id, { content: [{ type: 'hologram', depth: 3 }] })`),
    },
  })
  assert.equal(brief(await attempt(catalog, 'mute:call', {})), 'unknown UPSTREAM_UNREACHABLE')
  assert.equal(brief(await attempt(catalog, 'deaf:call', {})), null)
  await pause(50)
  assert.equal(brief(await attempt(catalog, 'deaf:call', {})), 'not_sent UPSTREAM_UNREACHABLE')
  let again = await attempt(catalog, 'deaf:call', {})
  for (let round = 0; round < 100 && again.outcome === 'not_sent'; round++) {
    await pause(50)
    again = await attempt(catalog, 'deaf:call', {})
  }
  assert.equal(brief(again), null)
  assert.equal(brief(await attempt(catalog, 'noisy:call', {})), 'fine')
  for (const wrong of ['wrong', 'partless', 'textless', 'unsure', 'bare']) {
    assert.equal(brief(await attempt(catalog, `${wrong}:call`, {})), 'answered TOOL_ERROR', wrong)
  }
  assert.equal(brief(await attempt(catalog, 'empty:call', {})), null)
  assert.deepEqual(brief(await attempt(catalog, 'new:call', {})), [{ type: 'hologram', depth: 3 }])
})

test('try() takes for an answer whatever has the id of its request, instead of waiting for a better one', async (t) => {
  const raw = (rest: string) => misbehaving(`console.log('{"jsonrpc":"2.0","id":' + id + ',${rest}}')`)
  const { catalog } = open(t, {
    servers: {
      nothing: raw('"result":null'),
      both: raw('"result":{"content":[]},"error":{"code":1,"message":"no"}'),
      named: raw('"error":{"code":"ENOENT","message":"no"}'),
      text: misbehaving(
        `console.log(JSON.stringify({ jsonrpc: '2.0', id: String(id), error: { code: 1, message: 'no' } }))`,
      ),
      marked: misbehaving(`process.stdout.write('\\ufeff'); say(id, { content: [{ type: 'text', text: 'fine' }] })`),
      silent: misbehaving(`say(id, { isError: true, content: [] })`),
    },
  })
  for (const server of ['nothing', 'both', 'named', 'text']) {
    assert.equal(brief(await attempt(catalog, `${server}:call`, {})), 'answered TOOL_ERROR', server)
  }
  assert.equal(brief(await attempt(catalog, 'marked:call', {})), 'fine')
  const silent = await attempt(catalog, 'silent:call', {})
  assert(silent.outcome === 'answered' && !silent.ok)
  assert.equal(silent.error.message, 'Cannot complete "silent:call": it says that it failed, and no more')
})

test('tools() is not spoiled by a server that fails, and tool() of it is undefined', async (t) => {
  const { catalog } = open(t, { servers: { none: { command: 'no-such-command' } } })
  const { tools, problems } = await catalog.tools()
  assert.equal(tools.length, toolsOfEffects)
  assert.deepEqual(
    problems.map(({ server, error }) => [server, error.code]),
    [['none', 'UPSTREAM_UNREACHABLE']],
  )
  assert.equal(await catalog.tool('none:x'), undefined)
  assert.equal(await catalog.tool('fx:nothing'), undefined)
  assert.equal(await catalog.tool('other:add'), undefined)
  assert.equal(await catalog.tool('no colon'), undefined)
})

test('try() does not know the outcome when the server dies in the middle, and starts it again for the next', async (t) => {
  const { catalog, effects } = open(t)
  const slow = attempt(catalog, 'fx:wait', { ms: 5000 })
  while (effects().length === 0) await pause(5)
  assert.equal(brief(await attempt(catalog, 'fx:die', {})), 'unknown UPSTREAM_UNREACHABLE')
  assert.equal(brief(await slow), 'unknown UPSTREAM_UNREACHABLE')
  assert.deepEqual(brief(await attempt(catalog, 'fx:put', { key: 'a', value: 1 })), { key: 'a' })
  const [before, after] = effects().map(({ pid }) => pid)
  assert.notEqual(before, after)
})

test('try() reads an answer that was written right before the server ended', async (t) => {
  const last = misbehaving(`say(id, { content: [{ type: 'text', text: 'x'.repeat(100000) }] }); process.exit(0)`)
  for (let round = 0; round < 3; round++) {
    const { catalog } = open(t, { servers: { last } })
    await toolOf(catalog, 'last:call')
    const answer = attempt(catalog, 'last:call', {})
    await pause(20)
    // While no one listens, both the answer and the end arrive.
    for (const until = Date.now() + 60; Date.now() < until; );
    assert.equal(String(brief(await answer)).length, 100_000)
  }
})

test('try() does not know the outcome after a time-out or an abort, once the request was written', async (t) => {
  const { catalog, effects } = open(t)
  assert.equal(brief(await attempt(catalog, 'fx:wait', { ms: 3000 }, { timeoutMs: 50 })), 'unknown CALL_TIMEOUT')
  const abort = new AbortController()
  const aborted = attempt(catalog, 'fx:wait', { ms: 3000 }, { signal: abort.signal })
  const begun = () => effects().filter(({ phase }) => phase === 'begun').length
  while (begun() < 2) await pause(5)
  abort.abort()
  assert.equal(brief(await aborted), 'unknown CANCELLED')
  assert.deepEqual(brief(await attempt(catalog, 'fx:wait', { ms: 1 })), { waited: 1 })
})

test('try() that is aborted before its request was written was not sent', async (t) => {
  const { catalog, effects } = open(t, { server: { concurrency: 1 } })
  const tool = await toolOf(catalog, 'fx:add')
  const busy = attempt(catalog, 'fx:wait', { ms: 300 })
  const abort = new AbortController()
  const waiting = catalog.try(tool, { key: 'a', by: 1 }, { signal: abort.signal, timeoutMs: 1000 })
  abort.abort()
  assert.equal(brief(await waiting), 'not_sent CANCELLED')
  const early = catalog.try(tool, { key: 'a', by: 1 }, { signal: AbortSignal.abort(), timeoutMs: 1000 })
  assert.equal(brief(await early), 'not_sent CANCELLED')
  await busy
  assert.deepEqual(
    effects().filter(({ tool }) => tool === 'add'),
    [],
  )
})

/** The most calls that a server had under way at one time. */
function mostAtOnce(effects: { phase: string }[]): number {
  let running = 0
  let most = 0
  for (const { phase } of effects) {
    running += phase === 'begun' ? 1 : -1
    most = Math.max(most, running)
  }
  return most
}

test('try() sends at most as many calls at once as the configuration allows', async (t) => {
  const { catalog, effects } = open(t, { server: { concurrency: 2 } })
  await Promise.all(Array.from({ length: 6 }, () => attempt(catalog, 'fx:wait', { ms: 40 })))
  assert.equal(mostAtOnce(effects()), 2)
})

test('try() sends 32 calls at once where the configuration says nothing, and one to a stateful server', async (t) => {
  const plain = open(t)
  await Promise.all(Array.from({ length: 40 }, () => attempt(plain.catalog, 'fx:wait', { ms: 1000 })))
  assert.equal(mostAtOnce(plain.effects()), 32)
  const stateful = open(t, { server: { stateful: true } })
  await Promise.all(Array.from({ length: 3 }, () => attempt(stateful.catalog, 'fx:wait', { ms: 10 })))
  assert.equal(mostAtOnce(stateful.effects()), 1)
})

/** A folder, and an environment in which the effects server counts its starts. */
function counted(t: TestContext) {
  const folder = temporaryFolder(t)
  const file = join(folder, 'starts.txt')
  return { folder, env: { STARTS: file }, starts: () => readFileSync(file, 'utf8').length }
}

test('tools(), tool() and search() answer from the disk without starting anything, until asked to refresh', async (t) => {
  const { folder, starts, env } = counted(t)
  const first = open(t, { folder, env })
  await first.catalog.tools()
  await first.catalog.close()
  const { catalog } = open(t, { folder, env })
  assert.equal(starts(), 1)
  assert.equal((await catalog.tools()).tools.length, toolsOfEffects)
  assert.equal((await catalog.tool('fx:add'))?.effect, 'unsafe')
  assert.equal((await catalog.search({ intent: 'fx:big', limit: 1 })).results[0]?.tool.id, 'fx:big')
  assert.equal(starts(), 1)
  await catalog.tools({ refresh: true })
  assert.equal(starts(), 2)
})

test('tools() does not use what another definition of the server left on the disk, nor what it cannot read', async (t) => {
  const { folder, starts, env } = counted(t)
  const first = open(t, { folder, env })
  await first.catalog.tools()
  await first.catalog.close()
  const other = open(t, { folder, env: { ...env, OTHER: '1' } })
  await other.catalog.tools()
  assert.equal(starts(), 2)
  await other.catalog.close()
  const file = join(folder, 'catalog', 'fx.json')
  const cut = readFileSync(file, 'utf8').slice(0, -20)
  for (const [at, text] of ['', '{}', cut, '{"definition":1,"at":1,"era":{},"tools":[]}'].entries()) {
    writeFileSync(file, text)
    const { catalog } = open(t, { folder, env: { ...env, OTHER: '1' } })
    assert.equal((await catalog.tools()).tools.length, toolsOfEffects)
    assert.equal(starts(), at + 3)
    await catalog.close()
  }
})

test('digests() stay the same for another secret and change with anything else', (t) => {
  const digestOf = (setup: Setup) => open(t, setup).catalog.digests().fx
  const folder = temporaryFolder(t)
  const one = digestOf({ folder, env: { API_TOKEN: 'one', MODE: 'a' } })
  assert.equal(digestOf({ folder, env: { API_TOKEN: 'two', MODE: 'a' }, server: { concurrency: 2 } }), one)
  assert.notEqual(digestOf({ folder, env: { API_TOKEN: 'one', MODE: 'b' } }), one)
  assert.notEqual(digestOf({ folder, env: { API_TOKEN: 'one', MODE: 'a' }, server: { args: ['x'] } }), one)
})

test('a server that only speaks the new protocol is understood, and remembered as such', async (t) => {
  const modern = { command: process.execPath, args: [erasServer], env: { LEGACY: 'reject' } }
  const both = { command: process.execPath, args: [erasServer] }
  const first = open(t, { servers: { modern, both } })
  for (const id of ['modern:echo', 'both:echo'])
    assert.equal(brief(await attempt(first.catalog, id, { word: 'hi' })), 'hi')
  assert.deepEqual([first.catalog.eraOf('both'), first.catalog.eraOf('modern')], ['legacy', 'modern'])
  assert.deepEqual(first.log, [], 'of which nobody hears who does not ask')
  await first.catalog.close()
  const again = open(t, { folder: first.folder, servers: { modern, both } })
  assert.equal(brief(await attempt(again.catalog, 'modern:echo', { word: 'hi' })), 'hi')
})

test('try() learns the shape of results, which search() then knows, also in another life', async (t) => {
  const { catalog, folder } = open(t)
  assert.equal((await toolOf(catalog, 'fx:read')).observed, undefined)
  await attempt(catalog, 'fx:read', { key: 'a' })
  await attempt(catalog, 'fx:put', { key: 'a', value: { colour: 'red' } })
  await attempt(catalog, 'fx:read', { key: 'a' })
  const seen = '{ key: string, value: null | { colour: string } }'
  assert.equal(signatureOf((await toolOf(catalog, 'fx:read')).observed), seen)
  const found = async (asked: Catalog) => (await asked.search({ intent: 'read a colour', limit: 1 })).results
  assert.match((await found(catalog))[0]!.why, /result: colour/)
  await catalog.close()
  const { catalog: later } = open(t, { folder })
  assert.equal(signatureOf((await toolOf(later, 'fx:read')).observed), seen)
  assert.match((await found(later))[0]!.why, /result: colour/)
})

test('try() calls a stateful server for a run only in the life that the run began with', async (t) => {
  const { catalog, effects } = open(t, { server: { stateful: true, idleMs: 200 } })
  const { signal } = new AbortController()
  const add = await toolOf(catalog, 'fx:add')
  const as = async (run: string) => brief(await catalog.try(add, { key: run, by: 1 }, { signal, timeoutMs: 5000, run }))
  assert.deepEqual(await as('one'), { key: 'one', total: 1 })
  await pause(500)
  assert.deepEqual(await as('one'), { key: 'one', total: 2 }, 'it is kept while a run counts on it')
  await attempt(catalog, 'fx:die', {})
  assert.deepEqual(await as('two'), { key: 'two', total: 1 })
  assert.equal(await as('one'), 'not_sent UPSTREAM_STATE_LOST')
  catalog.carryOver('two', ['fx', 'gone'])
  assert.deepEqual(await as('two'), { key: 'two', total: 2 }, 'this process knows better')
  catalog.carryOver('three', ['fx'])
  assert.equal(await as('three'), 'not_sent UPSTREAM_STATE_LOST')
  for (const run of ['one', 'two', 'three']) catalog.release(run)
  await pause(1000)
  assert.throws(() => process.kill(effects().at(-1)!.pid, 0), { code: 'ESRCH' }, 'nobody needs it any more')
})

test('tools() follows a server that says that its tools changed', async (t) => {
  for (const legacy of ['serve', 'reject']) {
    const eras = { command: process.execPath, args: [erasServer], env: { LEGACY: legacy } }
    const { catalog } = open(t, { servers: { eras } })
    const first = async () => (await catalog.search({ intent: 'eras:grown', limit: 1 })).results[0]?.tool.id
    assert.notEqual(await first(), 'eras:grown')
    assert.equal(brief(await attempt(catalog, 'eras:grow', {})), null)
    const has = async () => (await catalog.tools({ server: 'eras' })).tools.some(({ name }) => name === 'grown')
    for (let round = 0; round < 100 && !(await has()); round++) await pause(20)
    assert(await has(), legacy)
    assert.equal(await first(), 'eras:grown')
  }
})

test('search() waits once for a first start, then names the server as starting, apart from one that failed', async (t) => {
  const mute = { command: 'sleep', args: ['100'] }
  const { catalog } = open(t, { servers: { mute, gone: { command: 'no-such-command' } } })
  const { results, silent, starting } = await catalog.search({ intent: 'add a number to a counter', limit: 3 })
  assert.equal(results[0]?.tool.id, 'fx:add')
  assert.deepEqual([silent, starting], [['mute', 'gone'], ['mute']])
  const began = performance.now()
  assert.deepEqual((await catalog.search({ intent: 'add', limit: 3 })).starting, ['mute'])
  assert(performance.now() - began < limits.firstListMsMax / 2, 'the time of a first start is given once')
})

test('a server with nothing to do is ended after its idle time', async (t) => {
  const { catalog, effects } = open(t, { server: { idleMs: 50 } })
  await attempt(catalog, 'fx:put', { key: 'a', value: 1 })
  const { pid } = effects()[0]!
  for (let round = 0; round < 200 && existsSync(`/proc/${pid}`); round++) await pause(20)
  assert(!existsSync(`/proc/${pid}`), 'it is gone')
  assert.deepEqual(brief(await attempt(catalog, 'fx:read', { key: 'a' })), { key: 'a', value: 1 })
})

test('close() ends a server that minds neither SIGTERM nor the end of its input, with what it left elsewhere', async (t) => {
  const before = new Set(descendantsOf(process.pid).map(({ pid }) => pid))
  const script = `${process.execPath} ${effectsServer}; true`
  const stubborn = { command: 'sh', args: ['-c', script], env: { STUBBORN: '1', DETACHED: '1' } }
  const { catalog } = open(t, { servers: { stubborn } })
  await catalog.tools({ server: 'stubborn' })
  const started = descendantsOf(process.pid).filter(({ pid }) => !before.has(pid))
  assert.equal(started.length, 4, 'the guard, the shell, the server and what the server started')
  const began = Date.now()
  await catalog.close()
  assert(Date.now() - began < limits.upstreamStopMsMax + limits.upstreamDrainMsMax)
  await pause(100)
  assert.deepEqual(started.filter(isAlive), [])
})

test('a server that ends, by itself or by us, leaves nothing behind, also not two forks away in another session', async (t) => {
  const file = join(temporaryFolder(t), 'estranged')
  const { catalog } = open(t, { env: { ESTRANGED: file } })
  const estranged = async () => {
    while (!existsSync(file) || readFileSync(file, 'utf8') === '') await pause(20)
    return processOf(Number(readFileSync(file, 'utf8')))!
  }
  await catalog.tools()
  const first = await estranged()
  rmSync(file)
  await attempt(catalog, 'fx:die', {})
  for (let round = 0; round < 100 && isAlive(first); round++) await pause(20)
  assert(!isAlive(first), 'the server died')
  await attempt(catalog, 'fx:read', { key: 'a' })
  const second = await estranged()
  assert(isAlive(second))
  await catalog.close()
  for (let round = 0; round < 100 && isAlive(second); round++) await pause(20)
  assert(!isAlive(second), 'we ended it')
})

test('close() does not wait for a server that is still starting', async (t) => {
  const { catalog } = open(t, { servers: { mute: { command: 'sleep', args: ['30'] } } })
  const listed = catalog.tools({ server: 'mute' })
  await pause(50)
  const began = Date.now()
  await catalog.close()
  assert(Date.now() - began < limits.upstreamStopMsMax + limits.upstreamDrainMsMax)
  assert.equal((await listed).problems[0]?.error.code, 'UPSTREAM_UNREACHABLE')
})
