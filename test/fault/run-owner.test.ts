/**
 * Who may go on with a run, and with what: one owner, the servers it began with, and what it had
 * built up in them; a cancel reaches them.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openCatalog } from '#catalog'
import { AppError, parseConfig } from '#model'
import { type Chain, openStore, type Store } from '#record'
import { loadEngine } from '#run'
import { type Boxes, openBoxes } from '#sandbox'
import { caller, done, effects, openSpace, serve, type Workspace, workspace } from '#test'

const { openEngine } = await loadEngine()

const code = (text: string) => ({ implementation: { type: 'code', code: text } })
const asks = {
  policy: {
    rules: [
      { tool: 'fx:add', then: 'ask' },
      { tool: 'fx:*', then: 'allow' },
    ],
  },
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(10)
}

/** An engine of its own on the home of a workspace, as another process would have. */
async function openAnother(
  space: Workspace,
  change: (boxes: Boxes) => Boxes = (boxes) => boxes,
  write: (chain: Chain) => Chain = (chain) => chain,
  now = Date.now,
) {
  const text = readFileSync(space.file, 'utf8')
  const config = parseConfig({ file: space.file, text, home: space.home, env: process.env, directory: space.folder })
  const store = await openStore({ home: space.home, now })
  const options = { servers: config.servers, folder: `${space.home}/catalog`, baseEnv: { PATH: process.env.PATH! } }
  const catalog = openCatalog({ ...options, process: store.process })
  const boxes = change(openBoxes({}))
  const watched: Store = { ...store, startRun: (run, body) => write(store.startRun(run, body)) }
  const engine = openEngine({ store: watched, boxes, catalog, config, now })
  const close = async () => {
    await engine.close()
    await Promise.all([boxes.close(), catalog.close()])
    await store.close()
  }
  return { engine, store, close }
}

test('a run that another process moves is refused (RUN_OWNED), and taken over when that one lets go', async (t) => {
  const space = workspace(t)
  const one = await openAnother(space)
  const other = await openAnother(space)
  const plan = {
    kind: 'code',
    code: `await mcp.fx.wait({ ms: 700 }); return (await mcp.fx.add({ key: 'a', by: 1 })).total`,
  } as const
  const { run } = await one.engine.start({ plan, intent: null, args: {}, actor: caller.actor })
  await until(() => effects(space).length > 0)
  await assert.rejects(other.engine.resume(run, 'other'), { code: 'RUN_OWNED' })
  await one.close()
  assert.equal(other.store.run(run)?.status, 'interrupted')
  const [first, second] = await Promise.all([other.engine.resume(run, 'other'), other.engine.resume(run, 'again')])
  assert.equal(first, second, 'two that resume it at the same time get the same run')
  assert.equal(await first.settled, 'done')
  assert.equal(done(space, 'add').length, 1)
  await other.close()
})

test('a process that has no box to offer leaves a run as it was, and another can go on with it', async (t) => {
  const space = workspace(t)
  const one = await openAnother(space)
  const code = `await mcp.fx.add({ key: 'a', by: 1 }); await mcp.fx.wait({ ms: 700 }); return 'went on'`
  const { run } = await one.engine.start({ plan: { kind: 'code', code }, intent: null, args: {}, actor: caller.actor })
  await until(() => effects(space).some(({ tool }) => tool === 'wait'))
  await one.close()
  const none = async () => {
    throw new AppError('SANDBOX_SETUP_FAILED', 'Cannot open a box: the machine is too busy')
  }
  for (const lack of ['isolation', 'program']) {
    const poor = await openAnother(space, (boxes) => ({ ...boxes, [lack]: none }))
    const resumed = poor.engine.resume(run, 'poor').then(({ settled }) => settled)
    await assert.rejects(resumed, { code: 'SANDBOX_SETUP_FAILED' }, lack)
    assert.deepEqual([poor.store.run(run)?.status, poor.store.run(run)?.owner], ['interrupted', null], lack)
    await poor.close()
  }
  const other = await openAnother(space)
  assert.equal(await (await other.engine.resume(run, 'other')).settled, 'done')
  assert.equal(done(space, 'add').length, 1)
  await other.close()
})

test('a run that breaks under its owner is let go of: any process can go on with it', async (t) => {
  const space = workspace(t)
  const breaking = (chain: Chain): Chain => {
    const append: Chain['append'] = (type, body) => {
      if (type === 'call.resolved') throw new Error('a bug')
      return chain.append(type, body)
    }
    return { ...chain, append }
  }
  const one = await openAnother(space, undefined, breaking)
  const code = `return (await mcp.fx.read({ key: 'none' })).value`
  const request = { plan: { kind: 'code', code }, intent: null, args: {}, actor: caller.actor } as const
  const { run, settled } = await one.engine.start(request)
  await assert.rejects(settled, { message: 'a bug' })
  assert.equal(one.store.run(run)?.status, 'interrupted')
  const other = await openAnother(space)
  assert.equal(await (await other.engine.resume(run, 'other')).settled, 'done')
  await Promise.all([one.close(), other.close()])
})

test('a run goes on only with the servers it began with (CONFIG_CHANGED); a fork takes those of today', async (t) => {
  const space = workspace(t, { config: asks })
  const first = await openSpace(space)
  const { run, approvals } = await first.execute(code(`return (await mcp.fx.add({ key: 'a', by: 1 })).total`), caller)
  await first.close()
  const before = readFileSync(space.file, 'utf8')
  const config = JSON.parse(before)
  config.mcpServers.fx.args.push('--changed')
  writeFileSync(space.file, JSON.stringify(config))
  const changed = await openSpace(space)
  await changed.decide((approvals as { id: string }[])[0]!.id, { answer: 'approved' }, caller, false)
  const context = { servers: ['fx'], run }
  await assert.rejects(changed.resume(String(run), caller), { code: 'CONFIG_CHANGED', context })
  assert.equal((await changed.run(String(run))).status, 'approval_required', 'it is as it was')
  const forked = await changed.fork(String(run), 1, { key: 'forked', by: 2 }, caller)
  assert.equal(forked.status, 'approval_required')
  await changed.close()
  writeFileSync(space.file, before)
  const verbs = await openSpace(space)
  const { status, result } = await verbs.resume(String(run), caller)
  assert.deepEqual([status, result], ['done', 1])
})

test('a stateful server that was started anew under a run stops it (UPSTREAM_STATE_LOST), and is not called again', async (t) => {
  const space = workspace(t, { config: asks })
  const config = JSON.parse(readFileSync(space.file, 'utf8'))
  config.mcpServers.fx.stateful = true
  writeFileSync(space.file, JSON.stringify(config))
  const first = await openSpace(space)
  const program = `await mcp.fx.put({ key: 'open', value: 1 }); await mcp.fx.add({ key: 'a', by: 1 }); return 'went on'`
  const { run, approvals } = await first.execute(code(program), caller)
  await first.close()
  const verbs = await openSpace(space)
  await verbs.decide((approvals as { id: string }[])[0]!.id, { answer: 'approved' }, caller, true)
  const { status, error } = await verbs.resume(String(run), caller)
  assert.deepEqual([status, (error as { code: string }).code], ['failed', 'UPSTREAM_STATE_LOST'])
  assert.deepEqual(done(space, 'add'), [])
})

test('a cancel reaches the server that works on a call, and a call that ran out of time does, too', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  const cancel = new AbortController()
  const running = verbs.execute(code('await mcp.fx.wait({ ms: 20000 })'), { ...caller, signal: cancel.signal })
  await until(() => effects(space).some(({ tool }) => tool === 'wait'))
  cancel.abort()
  assert.equal((await running).status, 'cancelled')
  await until(() => done(space, 'cancelled').length === 1)
  const task = { id: 'slow', tool: 'fx:wait', arguments: { ms: 20000 }, timeoutMs: 200 }
  const { error } = await verbs.execute({ implementation: { type: 'dag', tasks: [task] } }, caller)
  assert.equal((error as { code: string }).code, 'CALL_TIMEOUT')
  await until(() => done(space, 'cancelled').length > 1)
})

test('a process that ends in order hears out what may be made only once, sends nothing more, and leaves nothing in doubt', async (t) => {
  const space = workspace(t)
  const leaving = await openSpace(space)
  const text = `const [a] = await Promise.all([mcp.fx.add({ key: 'a', by: 1, ms: 300 }), mcp.fx.wait({ ms: 30_000 * args.first })])
                return a.total + (await mcp.fx.add({ key: 'b', by: 2 })).total`
  const left = leaving.execute({ ...code(text), args: { first: 1 } }, caller)
  await until(() => effects(space).length >= 2)
  await Promise.all([leaving.releaseRuns(), leaving.close()])
  const { status, interrupted, run } = await left
  assert.deepEqual([status, interrupted], ['running', true])
  assert.deepEqual(
    done(space, 'add').map(({ args }) => args.key),
    ['a'],
  )
  const another = await openSpace(space)
  const [heard] = another.eventsOf(String(run), { type: 'call.resolved' })
  assert.equal(heard?.type === 'call.resolved' && heard.body.outcome, 'answered')
  assert.equal((await another.cancel(String(run), caller)).status, 'cancelled')
})

test('a process that ends in order does not wait for ever: what is not answered stays in doubt', async (t) => {
  const space = workspace(t)
  const leaving = await openSpace(space)
  const left = leaving.execute(code(`return (await mcp.fx.add({ key: 'a', by: 1, ms: 30_000 })).total`), caller)
  await until(() => effects(space).length > 0)
  await leaving.close()
  const { run } = await left
  assert.equal((await (await openSpace(space)).resume(String(run), caller)).status, 'uncertain')
})

test('a clock that is put back holds up no timer, live or resumed', async (t) => {
  const space = workspace(t)
  let aheadMs = 3_600_000
  const now = () => Date.now() + aheadMs
  const one = await openAnother(space, undefined, undefined, now)
  const plan = {
    kind: 'code',
    code: `await mcp.fx.put({ key: 'k', value: 1 }); await sleep(20); await mcp.fx.add({ key: 'a', by: 1 }); await sleep(600); return 'over'`,
  } as const
  const started = await one.engine.start({ plan, intent: null, args: {}, actor: caller.actor })
  await until(() => done(space, 'put').length > 0)
  aheadMs = 0
  await until(() => done(space, 'add').length > 0)
  await until(() => one.store.events(started.run).filter(({ type }) => type === 'call.issued').length === 4)
  await one.close()
  const other = await openAnother(space)
  assert.equal(await (await other.engine.resume(started.run, 'other')).settled, 'done')
  await other.close()
})

/** The processes of which the system says this. */
function processesThat(file: 'cmdline' | 'environ', says: string): number[] {
  const saying = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(says)
    } catch {
      return false
    }
  }
  return readdirSync('/proc').filter(saying).map(Number)
}

test('whoever opens a home ends the servers of a process that was killed together with its guard', async (t) => {
  const space = workspace(t, { env: { STUBBORN: '1' } })
  const { url, child } = await serve(t, space)
  await fetch(`${url}/api/tools`)
  const servers = () => processesThat('environ', `EFFECTS=${space.witness}`)
  assert.equal(servers().length, 1)
  const [owner = ''] = readdirSync(`${space.home}/processes`).filter((name) => name.endsWith('.db'))
  child.kill('SIGSTOP')
  for (const guard of processesThat('cmdline', `metier-guard\0${owner.slice(0, -3)}`)) process.kill(guard, 'SIGKILL')
  child.kill('SIGKILL')
  await until(() => child.signalCode !== null)
  await pause(200)
  assert.equal(servers().length, 1, 'it minds neither us nor a signal')
  const verbs = await openSpace(space)
  await verbs.close()
  assert.deepEqual(servers(), [])
})
