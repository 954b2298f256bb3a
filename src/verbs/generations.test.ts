/**
 * Tests of a configuration that changes under a running process: what comes next uses it, what is
 * under way does not.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type JsonObject, limits, parseConfig } from '#model'
import { caller, done, openSpace, temporaryFolder, type Workspace, workspace } from '#test'

const code = (text: string) => ({ implementation: { type: 'code', code: text } })

/** The configuration of the workspace with changes, as a running process would read it. */
function changed(space: Workspace, change: (config: { mcpServers: Record<string, JsonObject> }) => void) {
  const config = JSON.parse(readFileSync(space.file, 'utf8'))
  change(config)
  const source = { file: space.file, text: JSON.stringify(config), home: space.home, directory: space.folder }
  return parseConfig({ ...source, env: {} })
}

async function begun(space: Workspace, tool: string): Promise<void> {
  for (let round = 0; round < 500 && !existsSync(space.witness); round++) await pause(20)
  for (let round = 0; round < 500 && !readFileSync(space.witness, 'utf8').includes(tool); round++) await pause(20)
}

/** The same server with another witness. */
function moved(space: Workspace) {
  const elsewhere = { ...space, witness: join(space.folder, 'elsewhere.jsonl') }
  const config = changed(space, ({ mcpServers: { fx } }) => {
    Object.assign(fx!.env as JsonObject, { EFFECTS: elsewhere.witness })
  })
  return { elsewhere, config }
}

test('reconfigure() leaves a run under way the servers it began with; the next run has the new ones', async (t) => {
  const space = workspace(t)
  const verbs = await openSpace(space)
  const program = 'await mcp.fx.add({ key: "a", by: 1, ms: 1500 }); return await mcp.fx.add({ key: "b", by: 1 })'
  const running = verbs.execute(code(program), caller)
  await begun(space, 'add')
  const { elsewhere, config } = moved(space)
  verbs.reconfigure(config)
  const next = await verbs.execute(code('return await mcp.fx.add({ key: "c", by: 1 })'), caller)
  assert.equal((await running).status, 'done')
  assert.equal(next.status, 'done')
  const keys = (where: Workspace) => done(where, 'add').map(({ args }) => args.key)
  assert.deepEqual([keys(space), keys(elsewhere)], [['a', 'b'], ['c']])
})

test('reconfigure() does not restart a server that is defined as before, and ends one that is gone', async (t) => {
  const file = join(temporaryFolder(t), 'starts')
  const space = workspace(t, { env: { STARTS: file } })
  const verbs = await openSpace(space)
  await verbs.execute(code('return await mcp.fx.read({ key: "a" })'), caller)
  const two = changed(space, ({ mcpServers }) => {
    mcpServers.again = { ...mcpServers.fx, env: { EFFECTS: space.witness } }
  })
  verbs.reconfigure(two)
  const found = await verbs.discover({ intent: 'again:read' }, caller)
  assert.equal((found.results as JsonObject[])[0]?.id, 'again:read')
  await verbs.execute(code('return await mcp.fx.put({ key: "a", value: 1 })'), caller)
  const { pid } = done(space, 'put')[0]!
  assert.equal(readFileSync(file, 'utf8').length, 1)
  verbs.reconfigure(changed(space, ({ mcpServers }) => void delete mcpServers.fx))
  const gone = await verbs.execute(code('return await mcp.fx.read({ key: "a" })'), caller)
  assert.equal((gone.error as JsonObject).code, 'TOOL_NOT_FOUND')
  const roundsMax = (limits.configLeaveMs + limits.upstreamStopMsMax + 20_000) / 50
  for (let round = 0; round < roundsMax && existsSync(`/proc/${pid}`); round++) await pause(50)
  assert(!existsSync(`/proc/${pid}`), 'no run began with it, and its process is ended')
})

test('reconfigure() with another policy holds for the next run, and a waiting run resumes only with its servers', async (t) => {
  const space = workspace(t, { config: { policy: { permissions: 'standard' } } })
  const verbs = await openSpace(space)
  const add = code('return await mcp.fx.add({ key: "a", by: 1 })')
  const waiting = await verbs.execute(add, caller)
  assert.equal(waiting.status, 'approval_required')
  const { config } = moved(space)
  verbs.reconfigure({ ...config, policy: { permissions: 'privileged', rules: [] } })
  assert.equal((await verbs.execute(add, caller)).status, 'done', 'what is privileged asks nobody')
  const [{ id }] = waiting.approvals as unknown as [{ id: string }]
  const answer = verbs.decide(id, { answer: 'approved', scope: 'once' } as never, caller, true)
  await assert.rejects(answer, { code: 'CONFIG_CHANGED' })
})
