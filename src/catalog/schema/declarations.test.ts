/** Tests of the declarations that an editor reads, with the real compiler. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { declarationsOf } from '#catalog'
import type { JsonObject, Tool } from '#model'
import { root, temporaryFolder } from '#test'

const tool = (id: string, input: JsonObject, more: Partial<Tool> = {}): Tool => {
  const [server = '', name = ''] = id.split(':')
  const effect = { effect: 'read', effectFrom: 'configuration' } as const
  return { id, server, name, description: `About ${name}.`, input, annotations: {}, ...effect, digest: id, ...more }
}

const string = { type: 'string' }

const tools = [
  tool(
    'fs:read',
    { type: 'object', properties: { path: string, head: { type: 'integer' } }, required: ['path'] },
    { output: { type: 'object', properties: { content: string }, required: ['content'] } },
  ),
  tool('fs:list-all', { type: 'object', properties: {} }, { observed: { type: 'array', items: string } }),
  tool(
    'odd name:x y',
    { properties: { kind: { enum: Array.from({ length: 40 }, (_, i) => `k${i}`) } } },
    {
      description: 'Ends a comment */ throw 1 /* and\n\u202eturns around',
    },
  ),
  tool('odd name:deep', { properties: { a: { $ref: '#' }, of: { type: 'strange' }, list: { type: 'array' } } }),
]

test('declarationsOf() is TypeScript that accepts right programs and refuses wrong ones', (t) => {
  const folder = temporaryFolder(t)
  const compile = (code: string): string => {
    writeFileSync(join(folder, 'mcp.d.ts'), declarationsOf(tools))
    writeFileSync(join(folder, 'program.ts'), `export async function program() {\n${code}\n}\n`)
    const args = ['--noEmit', '--strict', '--lib', 'es2024', '--types', '', 'mcp.d.ts', 'program.ts']
    const ran = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...args], { cwd: folder })
    return ran.stdout.toString()
  }
  const right = `
    const { content } = await mcp.fs.read({ path: args.path, head: 3 })
    const names: string[] = await mcp.fs['list-all']()
    const again = (await tool('fs:read', { path: content.trim() })).content.length
    const other = await tool('made:up', { a: 1 })
    await mcp['odd name']['x y']({ kind: 'k39' })
    await mcp['odd name'].deep({ a: { a: {} }, list: [1, 'x'] })
    await sleep(10)
    return [names.length + again, other.anything]`
  assert.equal(compile(right), '')
  assert.match(compile('await mcp.fs.read({ head: 1 })'), /Property 'path' is missing/)
  assert.match(compile(`await mcp['odd name']['x y']({ kind: 'k40' })`), /not assignable/)
  assert.match(compile(`(await mcp.fs.read({ path: 'x' })).size`), /Property 'size' does not exist/)
  assert.match(compile('await mcp.git.log()'), /Property 'git' does not exist/)
})

test('declarationsOf() keeps a text of a server inside its comment', () => {
  const text = declarationsOf(tools)
  assert.doesNotMatch(text, /\*\/ throw/)
  assert.doesNotMatch(text, /\u202e/)
  assert.match(text, /Effect: read, result as observed so far\./)
})
