/**
 * What the catalogue may expect of any server: one that is a process and speaks MCP, and the one
 * whose tools run here.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BuiltInTool, openBuiltIn } from '#catalog/built-in'
import type { CallOptions, ToolServer } from '#catalog/tool-server'
import { openSharedServers } from '#catalog/upstream'
import { AppError, type Json, type JsonObject, newId, parseConfig, type Try } from '#model'
import { root, temporaryFolder } from '#test'

/** A server with `add`, which takes `ms`, and `flaky`, which fails; how often `add` was begun. */
type Opened = { server: ToolServer; other: ToolServer; begun(): number }

function upstream(t: TestContext): Opened {
  const folder = temporaryFolder(t)
  const file = join(folder, 'effects.jsonl')
  const fx = { command: process.execPath, args: [join(root, 'test/servers/effects.ts')], env: { EFFECTS: file } }
  const text = JSON.stringify({ servers: { fx, other: { ...fx, args: [...fx.args, 'other'] } } })
  const { servers } = parseConfig({ file: null, text, home: folder, env: {}, directory: folder })
  const options = { servers, folder: join(folder, 'catalog'), baseEnv: { PATH: process.env.PATH! } }
  const shared = openSharedServers(options)
  const moved = () => {}
  const entries = shared.enter(options, moved)
  t.after(() => shared.leave(entries, moved))
  const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [])
  const begun = () => lines().filter((line) => line.includes('"begun"')).length
  return { server: entries.get('fx')!, other: entries.get('other')!, begun }
}

function builtIn(t: TestContext): Opened {
  let begun = 0
  const add = async ({ by, ms = 0 }: JsonObject, signal: AbortSignal): Promise<Json> => {
    begun++
    await sleep(Number(ms), undefined, { signal })
    return { key: 'k', total: by! }
  }
  const fail = async () => {
    throw new AppError('TOOL_ERROR', 'failed 1 of 9 times')
  }
  const tools = [toolOf('add', (args, _, { signal }) => add(args, signal)), toolOf('flaky', fail)]
  const open = (taskGraph: Parameters<typeof openBuiltIn>[1]['taskGraph']) => {
    const home = temporaryFolder(t)
    mkdirSync(join(home, 'artifacts'))
    const sandbox = { minTier: 'os', outbound: [] } as const
    const artifacts = { folder: join(home, 'artifacts') }
    const server = openBuiltIn(tools, { home, artifacts, taskGraph, resultText: () => '', sandbox })
    t.after(() => server.close())
    return server
  }
  const elsewhere = { url: 'bolt://127.0.0.1:1', user: 'neo4j', password: 'x', database: 'neo4j' }
  return { server: open({ file: 'tasks.db' }), other: open(elsewhere), begun: () => begun }
}

function toolOf(name: string, run: BuiltInTool['run']): BuiltInTool {
  const object = { type: 'object' }
  const example = { intention: '', call: {}, success: {}, error: { code: 'TOOL_ERROR', message: '', context: {} } }
  const documentation = {
    objective: name,
    description: name,
    parameters: [],
    returns: [],
    errors: { TOOL_ERROR: 'it is flaky.' },
    preconditions: [],
    postconditions: [],
    idempotence: '',
    example,
  } as BuiltInTool['documentation']
  return { name, documentation, input: object, output: object, annotations: {}, effect: 'unsafe', run }
}

async function attempt(server: ToolServer, name: string, args: Json, more: Partial<CallOptions> = {}): Promise<Try> {
  const { tools } = await server.list(false, {})
  const tool = tools.find((one) => one.name === name)!
  const options = { signal: new AbortController().signal, timeoutMs: 60_000, run: newId(), call: '1' }
  return server.try(tool, args, { ...options, ...more })
}

const once = { key: 'k', by: 1 }

for (const [name, open] of Object.entries({ 'that speaks MCP': upstream, 'in this process': builtIn }))
  describe(`a server ${name}`, () => {
    test('lists its tools under its name, and has another digest than another server', async (t) => {
      const { server, other } = open(t)
      const { tools, problems } = await server.list(false, {})
      assert.deepEqual(problems, [])
      for (const tool of tools) assert.deepEqual([tool.id, tool.server], [`${server.name}:${tool.name}`, server.name])
      assert.deepEqual(
        server.tools?.map(({ id }) => id),
        tools.map(({ id }) => id),
      )
      assert.match(server.digest, /^[0-9a-f]{64}$/)
      assert.notEqual(server.digest, other.digest)
    })

    test('begins nothing before commit, which is asked once, and sends nothing where it says no', async (t) => {
      const { server, begun } = open(t)
      const seen: number[] = []
      const commit = (answer: boolean) => async () => {
        await sleep(50)
        seen.push(begun())
        return answer
      }
      const refused = await attempt(server, 'add', once, { commit: commit(false) })
      assert.deepEqual([refused.outcome, begun(), seen], ['not_sent', 0, [0]])
      const done = await attempt(server, 'add', once, { commit: commit(true) })
      assert.deepEqual([done.outcome, begun(), seen], ['answered', 1, [0, 0]])
      assert.deepEqual(done.outcome === 'answered' && done.ok && done.value, { key: 'k', total: 1 })
    })

    test("answers with the tool's own error, and with the answer as it came where that is wanted", async (t) => {
      const { server } = open(t)
      const failed = await attempt(server, 'flaky', { key: 'f', failures: 9 })
      assert.ok(
        failed.outcome === 'answered' && !failed.ok && failed.error.code === 'TOOL_ERROR',
        JSON.stringify(failed),
      )
      assert.match(failed.error.message, /failed 1 of 9 times/)
      const whole = await attempt(server, 'add', once, { whole: true })
      const { result } = (whole.outcome === 'answered' ? whole.answer : undefined) as { result: JsonObject }
      assert.deepEqual(result.structuredContent, { key: 'k', total: 1 })
    })

    test('cancelled or too late after it was sent, the outcome is unknown', async (t) => {
      const { server, begun } = open(t)
      await server.list(false, {})
      const late = await attempt(server, 'add', { ...once, ms: 20_000 }, { timeoutMs: 2000 })
      assert.deepEqual([late.outcome, late.outcome === 'unknown' && late.error.code], ['unknown', 'CALL_TIMEOUT'])
      const before = begun()
      const cancel = new AbortController()
      const under = attempt(server, 'add', { ...once, ms: 20_000 }, { signal: cancel.signal })
      while (begun() === before) await sleep(20)
      cancel.abort()
      const over = await under
      assert.deepEqual([over.outcome, over.outcome === 'unknown' && over.error.code], ['unknown', 'CANCELLED'])
    })
  })
