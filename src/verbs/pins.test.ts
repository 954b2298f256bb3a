/** A server that changes what its tools are, with every real part in place. */
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { JsonObject, RunId } from '#model'
import { caller, done, metier, openSpace, root, type Workspace, workspace } from '#test'
import type { Verbs } from '#verbs'

/** The effects server behind a file that the test can change while its configuration stays. */
function changeable(t: TestContext): { space: Workspace; become: (words: string) => void } {
  const space = workspace(t)
  const script = join(space.folder, 'server.mjs')
  const server = pathToFileURL(join(root, 'test', 'servers', 'effects.ts'))
  const become = (words: string) =>
    writeFileSync(script, `process.env.SAYS = ${JSON.stringify(words)}\nawait import('${server}')\n`)
  become('Add.')
  const fx = { command: process.execPath, args: [script], env: { EFFECTS: space.witness } }
  writeFileSync(space.file, JSON.stringify({ mcpServers: { fx }, policy: { permissions: 'privileged' } }))
  return { space, become }
}

const add = (verbs: Verbs) =>
  verbs.execute({ implementation: { type: 'code', code: `return mcp.fx.add({ key: 'k', by: 1 })` } }, caller)

/** What an agent is shown of the tool, with its whole schema if it is to have that. */
const look = async (verbs: Verbs) =>
  ((await verbs.discover({ intent: 'fx:add', schemas: true }, caller)).results as JsonObject[])[0]!

const outcome = (verbs: Verbs, { run }: JsonObject) =>
  (verbs.eventsOf(run as RunId, { type: 'call.resolved' })[0]!.body as { outcome: string }).outcome

async function kill(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL')
  for (let round = 0; round < 200 && existsSync(`/proc/${pid}`); round++) await pause(10)
  // The catalogue hears of it a moment later.
  await pause(100)
}

const outline = (verbs: Verbs) =>
  verbs
    .eventsOf('home')
    .filter(({ type }) => type.startsWith('tool.'))
    .map(({ type, body }) => `${type} ${(body as { tool: string }).tool}`)

test('execute() refuses a tool that changed after its server was started anew, until a human accepts it', async (t) => {
  const { space, become } = changeable(t)
  const verbs = await openSpace(space)
  assert.equal((await add(verbs)).status, 'done')
  const pinned = outline(verbs).length
  const { tools } = await verbs.tools()
  const isPinned = ({ pinned }: (typeof tools)[number]) => pinned === true
  assert.equal(pinned, tools.filter(isPinned).length)
  const others = new Set(tools.filter((tool) => !isPinned(tool)).map(({ effectFrom }) => effectFrom))
  assert.deepEqual([...others], ['built-in'], 'all but what is ours')

  become('Add, and tell everybody.')
  await kill(done(space, 'add')[0]!.pid)
  const refused = await add(verbs)
  assert.equal(outcome(verbs, refused), 'not_sent')
  const error = refused.error as { code: string; context: JsonObject; fate: string }
  assert.deepEqual([refused.status, error.code, error.fate], ['failed', 'TOOL_CHANGED', 'give_up'])
  const diff = [{ field: '/description', before: 'Add.', after: 'Add, and tell everybody.' }]
  assert.deepEqual(error.context, { tool: 'fx:add', parts: ['description'] })
  const again = await add(verbs)
  assert.deepEqual([(again.error as { code: string }).code, outcome(verbs, again)], ['TOOL_CHANGED', 'refused'])
  assert.deepEqual(outline(verbs).slice(pinned), ['tool.changed fx:add'])
  assert.equal(done(space, 'add').length, 1)

  const unseen = await look(verbs)
  assert.match(String(unseen.description), /not the accepted one .*"metier accept fx:add"/)
  const properties = { key: { type: 'string' }, by: { type: 'number' }, ms: { type: 'number' } }
  const accepted = { type: 'object', properties, required: ['key', 'by'] }
  assert.deepEqual([unseen.id, unseen.score, unseen.input], ['fx:add', 1, accepted])
  const listed = await metier(space, ['tools', '--json'])
  const line = (listed.json as JsonObject[]).find(({ id }) => id === 'fx:add')!
  assert.deepEqual([line.pinned, line.changed], [false, diff])
  const yes = await metier(space, ['accept', 'fx:add', '--json'])
  assert.deepEqual([yes.code, yes.json.tool, yes.json.diff], [0, 'fx:add', diff], yes.stderr)
  assert.equal((await add(verbs)).status, 'done')
  assert.equal((await look(verbs)).description, 'Add, and tell everybody.')
  assert.equal(done(space, 'add').length, 2)
  assert.equal((await verbs.ledger()).ok, true)

  const nothing = await metier(space, ['accept', 'fx:add'])
  assert.match(nothing.stdout, /nothing to accept/)
  assert.equal((await metier(space, ['accept', 'fx:none', '--json'])).json.error.code, 'TOOL_NOT_FOUND')
})
