/**
 * Tests of `init --move` and of `disconnect`, which puts back what it took, with files as hosts and
 * people write them.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { metier, workspace } from '#test'

/** A home folder with files of hosts; HOME and the current folder are `folder`. */
function person(t: TestContext, files: Record<string, string>) {
  const space = workspace(t)
  renameSync(space.file, `${space.file}.unused`)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(space.folder, path)), { recursive: true })
    writeFileSync(join(space.folder, path), text)
  }
  const run = (...args: string[]) => metier(space, args, { env: { METIER_CONFIG: '' } })
  const read = (path: string) => readFileSync(join(space.folder, path), 'utf8')
  return { ...space, run, read }
}

const cursor = `{
  // servers of mine
  "mcpServers": {
    "fs": { "command": "fs-server", "args": ["/data"], "timeout": 5 }, // slow
    "off": { "command": "off-server", "disabled": true },
    "web": {\t"url": "https://example.org/mcp" }
  },
  "other": [1, 2,   3]
}
`
const codex = `# mine
model = "gpt"

[mcp_servers.db]
command = "dbhub"
args = ["--dsn", "x"]

[mcp_servers.db.env]
DSN_TOKEN = "t"

[tui]
theme = "dark"
`

test('init --move takes the servers out, and disconnect puts every file back byte for byte', async (t) => {
  const claude = (folder: string) =>
    `{"numStartups":3,"mcpServers":{"one":{"command":"one-server"}},"projects":{${JSON.stringify(folder)}:{"mcpServers":{"local":{"command":"local-server"}},"history":[]}}}`
  const { folder, run, read } = person(t, { '.cursor/mcp.json': cursor, '.codex/config.toml': codex })
  writeFileSync(join(folder, '.claude.json'), claude(folder))
  const moved = await run('init', '--move')
  assert.equal(moved.code, 0, moved.stderr)
  assert.match(moved.stderr, /→ fs, web is taken out of .*\.cursor\/mcp\.json/)
  assert.doesNotMatch(moved.stderr, /They are copies/)
  assert.deepEqual(Object.keys(JSON.parse(read('metier.json')).mcpServers).sort(), ['db', 'fs', 'local', 'one', 'web'])

  assert.match(read('.cursor/mcp.json'), /"off": .*disabled/, 'what was not copied stays')
  assert.doesNotMatch(read('.cursor/mcp.json'), /fs-server|example\.org/)
  assert.match(read('.cursor/mcp.json'), /\/\/ servers of mine/)
  assert.doesNotMatch(read('.codex/config.toml'), /dbhub|DSN_TOKEN/)
  assert.match(read('.codex/config.toml'), /theme = "dark"/)
  const left = JSON.parse(read('.claude.json'))
  assert.deepEqual([left.mcpServers, left.projects[folder].mcpServers, left.numStartups], [{}, {}, 3])
  assert.equal(statSync(join(folder, '.cursor/mcp.json.metier-moved')).mode & 0o777, 0o600, 'it may hold secrets')

  for (const host of ['cursor', 'codex', 'claude-code']) {
    assert.equal((await run('connect', host)).code, 0)
    const back = await run('disconnect', host)
    assert.equal(back.code, 0, back.stderr)
  }
  assert.equal(read('.cursor/mcp.json'), cursor)
  assert.equal(read('.codex/config.toml'), codex)
  assert.equal(read('.claude.json'), claude(folder))
  assert(!existsSync(join(folder, '.cursor/mcp.json.metier-moved')))
})

test('disconnect puts the servers back also where the host changed its file meanwhile', async (t) => {
  const { folder, run, read } = person(t, { '.cursor/mcp.json': cursor })
  assert.equal((await run('init', '--move')).code, 0)
  const file = join(folder, '.cursor/mcp.json')
  writeFileSync(file, read('.cursor/mcp.json').replace('[1, 2,   3]', '"changed"'))
  assert.equal((await run('disconnect', 'cursor')).code, 0)
  assert.match(read('.cursor/mcp.json'), /"other": "changed"/)
  assert.match(read('.cursor/mcp.json'), /"fs": \{\s*"command": "fs-server"[\s\S]*"timeout": 5/)
  assert.match(read('.cursor/mcp.json'), /example\.org/)
})

test('init without --move says that it copies; --print changes nothing anywhere', async (t) => {
  const { folder, run, read } = person(t, { '.cursor/mcp.json': cursor })
  const shown = await run('init', '--move', '--print')
  assert.equal(shown.code, 0)
  assert.match(shown.stderr, /fs, web would be taken out of/)
  assert.deepEqual([existsSync(join(folder, 'metier.json')), read('.cursor/mcp.json')], [false, cursor])
  const copied = await run('init')
  assert.match(copied.stderr, /They are copies: your hosts still have these servers, and can call them without Métier/)
  assert.equal(read('.cursor/mcp.json'), cursor)
  assert.equal((await run('init', '--move')).code, 0, 'what was copied before can be moved later')
  assert.doesNotMatch(read('.cursor/mcp.json'), /fs-server/)
})

test('init --move leaves a server that our configuration has under its name and otherwise', async (t) => {
  const { folder, run, read } = person(t, { '.cursor/mcp.json': cursor })
  writeFileSync(join(folder, 'metier.json'), JSON.stringify({ mcpServers: { fs: { command: 'another' } } }))
  assert.equal((await run('init', '--move')).code, 0)
  assert.match(read('.cursor/mcp.json'), /fs-server/)
  assert.doesNotMatch(read('.cursor/mcp.json'), /example\.org/)
})
