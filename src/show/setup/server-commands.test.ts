/**
 * Tests of `add` and `remove` at the terminal: what they write, what they leave as it is, and what
 * they refuse.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { metier, root, workspace } from '#test'

function empty(t: TestContext) {
  const space = workspace(t)
  rmSync(space.file)
  return space
}

test('metier add makes the file, the server answers, and metier remove takes it out again', async (t) => {
  const space = empty(t)
  const server = join(root, 'test', 'servers', 'effects.ts')
  const added = await metier(space, [
    'add',
    'fx',
    '--env',
    'EFFECTS=/dev/null',
    '--',
    process.execPath,
    server,
    '--flag',
  ])
  assert.equal(added.code, 0, added.stderr)
  assert.deepEqual(JSON.parse(readFileSync(space.file, 'utf8')), {
    mcpServers: { fx: { command: process.execPath, args: [server, '--flag'], env: { EFFECTS: '/dev/null' } } },
  })
  const listed = await metier(space, ['tools', 'fx', '--json'])
  assert.equal(listed.code, 0, listed.stderr)
  assert(listed.json.some(({ id }: { id: string }) => id === 'fx:pay'))
  assert.equal((await metier(space, ['remove', 'fx'])).code, 0)
  assert.deepEqual(JSON.parse(readFileSync(space.file, 'utf8')), {})
})

test('metier add and remove leave every other byte of the file as it is', async (t) => {
  const space = empty(t)
  const text = `{
    // what our team uses
    "servers": {
        "one": { "command": "one" }, /* first */
    },
    "policy": { "permissions": "minimal" } // never more
}
`
  writeFileSync(space.file, text)
  const args = ['add', 'web', '--url', 'https://example.org/mcp', '--header', 'Authorization: Bearer ${TOKEN}']
  assert.equal((await metier(space, args)).code, 0)
  const grown = readFileSync(space.file, 'utf8')
  assert.match(grown, /"web": \{/)
  for (const line of text.split('\n')) assert(grown.includes(line), line)
  assert.match(grown, /"Authorization": "Bearer \$\{TOKEN\}"/)
  assert.equal((await metier(space, ['remove', 'web'])).code, 0)
  assert.equal(readFileSync(space.file, 'utf8'), text)
})

test('--print shows the file as it would be, and writes nothing', async (t) => {
  const space = empty(t)
  const { code, stdout } = await metier(space, ['add', 'fs', '--print', '--', 'npx', '-y', 'some-server'])
  assert.equal(code, 0)
  assert.match(stdout, /"args": \[\n\s+"-y",\n\s+"some-server"/)
  assert(!existsSync(space.file))
})

test('metier add proposes a box for a server that is known to need no more, and --sandbox writes it', async (t) => {
  const space = empty(t)
  const args = ['--', 'npx', '-y', '@modelcontextprotocol/server-filesystem@2026.8.31', space.folder]
  const plain = await metier(space, ['add', 'fs', ...args])
  assert.match(plain.stderr, /fs runs unconfined.*"--sandbox".*"write":\["\/.*"\],"hosts":\[\]/)
  assert.equal((await metier(space, ['remove', 'fs'])).code, 0)
  const boxed = await metier(space, ['add', 'fs', '--sandbox', '--folder', '/usr/share', ...args])
  assert.equal(boxed.code, 0, boxed.stderr)
  const { fs } = JSON.parse(readFileSync(space.file, 'utf8')).mcpServers
  assert.deepEqual(fs.sandbox, { tier: 'os', folders: ['/usr/share'], write: [space.folder], hosts: [] })
  const other = await metier(space, ['add', 'x', '--host', 'api.example.org', '--', 'some-server'])
  assert.equal(other.code, 0, other.stderr)
  const { x } = JSON.parse(readFileSync(space.file, 'utf8')).mcpServers
  assert.deepEqual(x.sandbox, { tier: 'os', folders: [], write: [], hosts: ['api.example.org'] })
  assert.doesNotMatch(other.stderr, /unconfined/)
})

test('what is wrong is refused and the file is not touched', async (t) => {
  const space = workspace(t)
  const before = readFileSync(space.file, 'utf8')
  const cases: [string[], number, RegExp][] = [
    [['add', 'fx', '--', 'other'], 3, /has a server of that name; "metier remove fx"/],
    [['add', 'home', '--', 'other'], 3, /\/mcpServers\/home: expected another name/],
    [['add', 'two words', '--', 'other'], 3, /expected a name of A-Z/],
    [['add', 'x', '--url', 'ftp://example.org'], 3, /begins with http/],
    [['add', 'x', '--', 'npx', '-y', 'metier', 'serve', '--stdio'], 3, /it is Métier itself/],
    [['add', 'x'], 2, /a command after "--", or an address/],
    [['add', 'x', '--env', 'NOVALUE', '--', 'y'], 2, /--env NAME=VALUE/],
    [['remove', 'fy'], 3, /no such server; did you mean fx/],
    [['remove', 'other'], 3, /no such server; it has fx/],
  ]
  for (const [args, code, says] of cases) {
    const ran = await metier(space, args)
    assert.equal(ran.code, code, `${args}: ${ran.stderr}`)
    assert.match(ran.stderr, says)
  }
  assert.equal(readFileSync(space.file, 'utf8'), before)
})

test('a mistyped name in the configuration is refused with the one that was meant, in words', async (t) => {
  const space = empty(t)
  const cases: [object, RegExp][] = [
    [{ mcpServer: {} }, /\/mcpServer: expected "mcpServers" \(did you mean that\?\)/],
    [{ polciy: { permissions: 'minimal' } }, /\/polciy: expected "policy"/],
    [{ mcpServers: { fs: { command: 'x', efects: {} } } }, /\/mcpServers\/fs\/efects: expected "effects"/],
    [{ policy: { rules: [{ tol: 'a:b', then: 'deny' }] } }, /did you mean "tool"\?/],
  ]
  for (const [config, says] of cases) {
    writeFileSync(space.file, JSON.stringify(config))
    const ran = await metier(space, ['tools'])
    assert.equal(ran.code, 3, JSON.stringify(config))
    assert.match(ran.stderr, says)
  }
  writeFileSync(space.file, JSON.stringify({ mcpServers: { fs: { command: 'true', timeout: 5, alwaysAllow: [] } } }))
  assert.equal((await metier(space, ['policy'])).code, 0, 'what other hosts write there is no mistake')
})

test('a tool that is not there is refused with its neighbours, at the terminal and in a program', async (t) => {
  const space = workspace(t)
  const explained = await metier(space, ['policy', 'explain', 'fx:ad'])
  assert.match(explained.stderr, /there is no such tool; did you mean fx:add/)
  const call = await metier(space, ['call', 'fxx:read', '{"key":"a"}', '--json'])
  assert.equal(call.json.error.code, 'TOOL_NOT_FOUND')
  assert.match(call.json.error.message, /did you mean fx:read\?/)
  assert.deepEqual(call.json.error.context.near, ['fx:read'])
})

test('add writes the first server of a file that init made as a person would', async (t) => {
  const space = workspace(t, { config: { mcpServers: {} } })
  writeFileSync(space.file, '{\n  "mcpServers": {}\n}\n')
  assert.equal((await metier(space, ['add', 'fx', '--', 'node', 'server.mjs'])).code, 0)
  const entry = { command: 'node', args: ['server.mjs'] }
  assert.equal(readFileSync(space.file, 'utf8'), `${JSON.stringify({ mcpServers: { fx: entry } }, null, 2)}\n`)
})
