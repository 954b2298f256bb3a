/**
 * A result of 50 MB is recorded whole, handed over only where it may be, and read in pages; a
 * program is told where it is.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { limits } from '#model'
import { caller, openSpace, workspace } from '#test'

const bytes = 50_000_000

test('a program is told that a result of 50 MB is too large, and where to read it in pages', async (t) => {
  const verbs = await openSpace(workspace(t))
  const code = `try { await mcp.fx.big({ bytes: ${bytes} }) } catch (error) { return [error.code, error.context.handle.call, error.context.bytes > ${bytes}] }`
  const { run, result } = await verbs.execute({ implementation: { type: 'code', code } }, caller)
  assert.deepEqual(result, ['RESULT_TOO_LARGE', '1', true])
  const page = await verbs.result({ run, call: 1, path: '/text', offset: bytes - 10, limit: 100 }, caller)
  assert.deepEqual([page.text ?? page.value, page.next], ['x'.repeat(10), null])
})

test('a result that is larger than what is kept, or has too many secrets, fails its call and not the run', async (t) => {
  const config = { record: { secrets: ['sk-[0-9]{20,}'] } }
  const verbs = await openSpace(workspace(t, { config }))
  const code = `const codes = []
    const tell = (error) => codes.push([error.code, error.context.tool ?? null])
    await mcp.fx.big({ bytes: ${limits.blobBytesMax} }).catch(tell)
    await mcp.fx.put({ key: 'many', value: Array.from({ length: 1001 }, (_, index) => 'sk-' + String(index).padStart(20, '0')) })
    await mcp.fx.read({ key: 'many' }).catch(tell)
    return codes`
  const { status, result } = await verbs.execute({ implementation: { type: 'code', code } }, caller)
  assert.deepEqual(
    [status, result],
    [
      'done',
      [
        ['RESULT_TOO_LARGE', 'fx:big'],
        ['RESULT_TOO_LARGE', 'fx:read'],
      ],
    ],
  )
})

test('a graph answers a result of 50 MB with a preview and a size, and the process stays small', async (t) => {
  const verbs = await openSpace(workspace(t))
  const big = { id: 'big', tool: 'fx:big', arguments: { bytes } }
  const {
    status,
    preview,
    bytes: size,
    result,
  } = await verbs.execute({ implementation: { type: 'dag', tasks: [big] } }, caller)
  assert.equal(status, 'done')
  assert.equal(result, undefined)
  assert.ok(String(preview).length <= limits.previewCharactersMax && Number(size) > bytes)
  const used = process.memoryUsage().rss
  assert.ok(used < 2 ** 30, `the process holds ${Math.round(used / 2 ** 20)} MB`)
})

test('a result of 50 MB holds up nobody: other runs go on while it comes and while it is read', async (t) => {
  const space = workspace(t)
  const config = JSON.parse(readFileSync(space.file, 'utf8'))
  const { fx } = config.mcpServers
  config.policy.rules.push({ tool: 'gx:*', then: 'allow' })
  writeFileSync(space.file, JSON.stringify({ ...config, mcpServers: { fx, gx: fx } }))
  const verbs = await openSpace(space)
  const call = (tool: string, args: object) =>
    verbs.execute({ implementation: { type: 'dag', tasks: [{ id: 'one', tool, arguments: args }] } }, caller)
  await call('gx:read', { key: 'none' })
  let isOver = false
  const large = call('fx:rows', { bytes }).finally(() => {
    isOver = true
  })
  let small = 0
  for (; !isOver; small++) assert.equal((await call('gx:read', { key: String(small) })).status, 'done')
  const { status, run } = await large
  assert.ok(status === 'done' && small > 10, `${small} other runs were done meanwhile`)

  let turns = 0
  const count = () => {
    turns += 1
    timer = setTimeout(count)
  }
  let timer = setTimeout(count)
  const at = (input: object) => verbs.result({ run, ...input }, caller)
  const [last, keys, text] = await Promise.all([
    at({ path: '/rows', offset: bytes / 100 - 1, limit: 5 }),
    at({ path: '/rows/400000', format: 'keys' }),
    at({ format: 'text', offset: 0, limit: 20 }),
  ])
  clearTimeout(timer)
  assert.deepEqual([(last.value as { id: number }[]).map(({ id }) => id), last.next], [[bytes / 100 - 1], null])
  assert.deepEqual(keys.value, ['id', 'name', 'tags', 'share', 'note'])
  assert.equal(text.text, '{"rows":[{"id":0,"na')
  assert.equal((await at({ limit: 0 })).digest, text.digest)
  assert.ok(turns > 10, `others had ${turns} turns`)
  await assert.rejects(at({ path: '/none' }), { code: 'INVALID_INPUT_PARAM' })
})
