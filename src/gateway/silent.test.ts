/**
 * A server that hangs at its start keeps no client from the tools of the others, and has its own
 * known once it is up.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type JsonObject, limits } from '#model'
import { caller, metier, openSpace, root, workspace } from '#test'
import { serveHttp } from './gateway.ts'

/** Beside the effects server one that comes up when the file is there. */
function slow(t: TestContext) {
  const space = workspace(t)
  const { mcpServers } = JSON.parse(readFileSync(space.file, 'utf8'))
  const go = join(space.folder, 'go')
  const starts = join(space.folder, 'starts')
  const program = `
    const { appendFileSync, existsSync } = await import('node:fs')
    appendFileSync(${JSON.stringify(starts)}, '.')
    while (!existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setTimeout(resolve, 20))
    await import('${pathToFileURL(join(root, 'test', 'servers', 'effects.ts'))}')
  `
  const late = { command: process.execPath, args: ['--input-type=module', '-e', program] }
  writeFileSync(space.file, JSON.stringify({ mcpServers: { ...mcpServers, late } }))
  return { space, start: () => writeFileSync(go, ''), starts: () => readFileSync(starts, 'utf8').length }
}

const idsOf = (tools: unknown) => (tools as JsonObject[]).map(({ id }) => String(id).split(':')[0])

test('GET /api/tools does not wait for a server that hangs, names it, and knows its tools when it is up', async (t) => {
  const { space, start } = slow(t)
  const verbs = await openSpace(space)
  const gateway = await serveHttp({ verbs, host: '127.0.0.1', port: 0, version: '0', log: () => {} })
  t.after(() => gateway.close())
  const look = async () => {
    const began = performance.now()
    const response = await fetch(`${gateway.url}/api/tools`)
    const servers = new Set(idsOf(await response.json()))
    return { servers: [...servers], silent: response.headers.get('metier-silent'), ms: performance.now() - began }
  }
  const first = await look()
  assert.deepEqual([first.servers, first.silent], [['fx', 'metier'], 'late'])
  assert.ok(first.ms < limits.toolListMsMax + 2000, `${first.ms} ms`)
  const second = await look()
  assert.deepEqual([second.servers, second.silent], [['fx', 'metier'], 'late'])
  assert.ok(second.ms < 1000, `it has waited long enough before, and took ${second.ms} ms`)
  start()
  for (let round = 0; round < 200 && (await verbs.tools()).problems.length > 0; round++) await pause(50)
  const third = await look()
  assert.deepEqual([third.servers, third.silent], [['fx', 'late', 'metier'], null])
})

test('metier tools gives a server that was never listed its time, says that it is starting, and lists it', async (t) => {
  const { space, start } = slow(t)
  const listing = metier(space, ['tools', '--json'])
  await pause(limits.toolListMsMax + limits.firstStartNoteMs)
  start()
  const { code, json, stderr } = await listing
  assert.deepEqual([code, [...new Set(idsOf(json))]], [0, ['fx', 'late', 'metier']])
  assert.match(stderr, /late: still starting \(\d+ s\)/)
})

test('metier tools lists the others and exits 4 where a server is not up in time; who names it waits for it', async (t) => {
  const { space, start } = slow(t)
  const all = await metier(space, ['tools', '--json'])
  assert.deepEqual([all.code, [...new Set(idsOf(all.json))]], [4, ['fx', 'metier']])
  assert.match(all.stderr, /Cannot list the tools of "late": it is still starting.*"metier tools late"/)
  const named = metier(space, ['tools', 'late', '--json'])
  await pause(1000)
  start()
  assert.deepEqual([...new Set(idsOf((await named).json))], ['late'])
})

test('discover waits for a first start that is under way and joins it: the server is started once', async (t) => {
  const { space, start, starts } = slow(t)
  const verbs = await openSpace(space)
  verbs.warmUp()
  const asked = [verbs.discover({ intent: 'pay' }, caller), verbs.discover({ intent: 'pay' }, caller)]
  await pause(limits.discoverWaitMsMax + 500)
  start()
  for (const answer of await Promise.all(asked)) {
    assert.equal(answer.silent, undefined)
    assert(idsOf(answer.results).includes('late'))
  }
  assert.equal(starts(), 1)
})
