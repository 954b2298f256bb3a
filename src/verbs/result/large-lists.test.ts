/**
 * A server with so many tools that what is known of its list is kept, with every real part in
 * place.
 */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { JsonObject } from '#model'
import { caller, openSpace, root, type Workspace, workspace } from '#test'

const count = 5000
const named = ['create_invoice_0', 'list_invoice_1', 'delete_invoice_2', 'update_invoice_3'] as const

function large(t: TestContext) {
  const space = workspace(t)
  const changed = join(space.folder, 'changed')
  const many = {
    command: process.execPath,
    args: [join(root, 'test', 'servers', 'many.ts')],
    env: { TOOLS: String(count), PAGE: '1500', CHANGED: changed, EFFECTS: space.witness },
  }
  writeFileSync(space.file, JSON.stringify({ mcpServers: { many }, policy: { permissions: 'privileged' } }))
  const files = { list: join(space.home, 'catalog', 'many.json'), digests: join(space.home, 'catalog', 'many.digests') }
  return { space, files, change: (tool: number) => writeFileSync(changed, String(tool)) }
}

/** Each call in a process of its own, as far as the catalogue is concerned. */
async function call(space: Workspace, name: string): Promise<{ code: string; pinned: number }> {
  const verbs = await openSpace(space)
  const answer = await verbs.execute(
    { implementation: { type: 'code', code: `return tool('many:${name}', { id: 'a' })` } },
    caller,
  )
  const pinned = verbs.eventsOf('home', { type: 'tool.pinned' }).length
  await verbs.close()
  return { code: answer.status === 'done' ? 'done' : String((answer.error as JsonObject).code), pinned }
}

const called = ({ witness }: Workspace) => (existsSync(witness) ? readFileSync(witness, 'utf8').trim().split('\n') : [])

test('execute() calls a tool of a list that did not change without reading or keeping the list again', async (t) => {
  const { space, files } = large(t)
  assert.deepEqual(await call(space, named[0]), { code: 'done', pinned: count })
  for (const file of Object.values(files)) utimesSync(file, 1, 1)
  assert.deepEqual(await call(space, named[2]), { code: 'done', pinned: count })
  for (const file of Object.values(files)) assert.equal(statSync(file).mtimeMs, 1000)
  assert.deepEqual(called(space), [named[0], named[2]])
})

test('execute() notices one changed tool among thousands before its call is sent, and calls the others', async (t) => {
  const { space, change } = large(t)
  assert.equal((await call(space, named[0])).code, 'done')
  change(2)
  assert.equal((await call(space, named[2])).code, 'TOOL_CHANGED')
  assert.equal((await call(space, named[3])).code, 'done')
  assert.equal((await call(space, named[2])).code, 'TOOL_CHANGED', 'also once the list is known')
  assert.deepEqual(called(space), [named[0], named[3]])
})

test('execute() believes no file about the tool it calls: a list that is vouched for and changed is noticed', async (t) => {
  const { space, files, change } = large(t)
  await call(space, named[0])
  const honest = readFileSync(files.digests)
  const other = large(t)
  other.change(2)
  await call(other.space, named[0])
  const listedBy = (bytes: Buffer) => JSON.parse(bytes.toString('utf8', 0, bytes.indexOf(10)))
  const header = listedBy(honest)
  header.listed.digest = listedBy(readFileSync(other.files.digests)).listed.digest
  const payload = honest.subarray(honest.indexOf(10))
  writeFileSync(files.digests, Buffer.concat([Buffer.from(JSON.stringify(header)), payload]))
  change(2)
  assert.equal((await call(space, named[2])).code, 'TOOL_CHANGED')
  assert.equal((await call(space, named[3])).code, 'done')
  assert.deepEqual(called(space), [named[0], named[3]])
})

test('execute() pins the tools of a known list again where the record has lost them', async (t) => {
  const { space } = large(t)
  assert.equal((await call(space, named[0])).pinned, count)
  for (const file of globSync('{metier.db*,checkpoints.jsonl}', { cwd: space.home })) rmSync(join(space.home, file))
  assert.deepEqual(await call(space, named[2]), { code: 'done', pinned: count })
})
