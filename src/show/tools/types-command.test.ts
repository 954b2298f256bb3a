/** Declarations for an editor, as a person asks for them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { metier, workspace } from '#test'

test('types writes the tools of all servers, and says which server it could not ask', async (t) => {
  const space = workspace(t)
  const file = join(space.folder, 'mcp.d.ts')
  const wrote = await metier(space, ['types', '-o', file])
  assert.equal(wrote.code, 0, wrote.stderr)
  assert.match(wrote.stdout, /^Wrote \d+ tools into /)
  const text = readFileSync(file, 'utf8')
  assert.match(text, /declare const mcp: \{\n {2}fx: \{\n/)
  assert.match(text, /declare function tool\(id: "fx:read", args: \{ key: string/)
  assert.equal((await metier(space, ['types'])).stdout, text)
  const refused = await metier(space, ['types', '-o', join(space.folder, 'none', 'mcp.d.ts')])
  assert.deepEqual([refused.code, refused.stdout], [2, ''])
  assert.match(refused.stderr, /^metier: Cannot write .*ENOENT/)
})
