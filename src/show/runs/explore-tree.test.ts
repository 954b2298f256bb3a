/** The picture of an explored plan. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metier, workspace } from '#test'

test('execute --explore draws the paths as a tree, and what they share once', async (t) => {
  const space = workspace(t)
  const code = `const r = await mcp.fx.read({ key: 'k' })\nif (r.value) await mcp.fx.put({ key: 'k', value: 1 })\nif (args.bad) throw new Error('no')\nreturn 'fine'`
  const { code: exit, stdout, stderr } = await metier(space, ['execute', '--explore', '--code', '-'], { input: code })
  assert.equal(exit, 0, stderr)
  assert.equal(
    stdout,
    `4 paths
└─ fx:read
   └─ line 2: r.value?
      ├─ [is false] line 3: args.bad?
      │  ├─ [is false] done "fine" (path 1)
      │  └─ [is true] failed: PROGRAM_ERROR Cannot finish the program: Error: no (line 3) (path 3)
      └─ [is true] fx:put
         └─ line 3: args.bad?
            ├─ [is false] done "fine" (path 2)
            └─ [is true] failed: PROGRAM_ERROR Cannot finish the program: Error: no (line 3) (path 4)
`,
  )
  assert.match(stderr, /may call fx:read \(line 1\), fx:put \(line 2\)/)
})
