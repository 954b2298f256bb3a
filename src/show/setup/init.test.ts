/**
 * Tests of `init`, `connect` and `disconnect` through the command line, with configurations as
 * hosts write them.
 */
import assert from 'node:assert/strict'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { JsonObject } from '#model'
import { binary, metier, workspace } from '#test'
import { parseToml } from './init-toml.ts'

/** A home folder without a configuration of ours; HOME and the current folder are `folder`. */
function person(t: TestContext) {
  const space = workspace(t)
  renameSync(space.file, `${space.file}.unused`)
  const write = (path: string, value: unknown) => {
    const file = join(space.folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value))
    return file
  }
  const run = (...args: string[]) => runWith({}, ...args)
  const runWith = (env: Record<string, string>, ...args: string[]) =>
    metier(space, args, { env: { METIER_CONFIG: '', ...env } })
  const read = (path: string) => readFileSync(join(space.folder, path), 'utf8')
  return { ...space, write, read, run, runWith }
}

const codex = `
# mine
model = "gpt"
[mcp_servers.db]
command = "dbhub"
args = ["--dsn", 'sqlite:///x', # a comment
]
[mcp_servers.db.env]
DSN_TOKEN = "t\\u00e9"
[mcp_servers."web"]
url = "https://example.org/mcp"
bearer_token_env_var = "WEB_TOKEN"
`

test('init takes over what hosts know, in our words, and writes nothing but its own file', async (t) => {
  const { folder, write, read, run } = person(t)
  const files = [
    write('.mcp.json', { mcpServers: { fs: { command: 'fs-server', args: ['${PWD}'] }, gone: {} } }),
    write('.claude.json', {
      mcpServers: { metier: { command: 'npx', args: ['metier', 'serve'] } },
      projects: { [folder]: { mcpServers: { local: { command: 'local-server' } } } },
    }),
    write('.cursor/mcp.json', {
      mcpServers: { fs: { command: 'other-fs' }, gw: { command: '/opt/metier', args: ['serve'] } },
    }),
    write(
      '.vscode/mcp.json',
      '{ // ours\n "servers": { "git hub": { "command": "gh", "env": { "T": "${input:gh-token}" }, }, } }',
    ),
    write('.codex/config.toml', codex),
    write('.gemini/settings.json', {
      mcpServers: { live: { httpUrl: 'http://127.0.0.1:9/mcp' }, old: { url: 'http://127.0.0.1:9/sse' } },
    }),
    write('opencode.json', {
      mcp: {
        oc: { type: 'local', command: ['oc', '-x'], environment: { A: '{env:B}' } },
        off: { type: 'local', command: ['x'], enabled: false },
      },
    }),
    write('.config/Claude/claude_desktop_config.json', 'not JSON'),
  ]
  const before = files.map((file) => [readFileSync(file, 'utf8'), statSync(file).mtimeMs])
  const printed = await run('init', '--print')
  assert.equal(existsSync(join(folder, 'metier.json')), false)
  const ran = await run('init', '--json')
  assert.equal(ran.code, 0, ran.stderr)
  const servers = {
    fs: { command: 'fs-server', args: ['${PWD}'], env: {} },
    local: { command: 'local-server', args: [], env: {} },
    'fs-cursor': { command: 'other-fs', args: [], env: {} },
    'git-hub': { command: 'gh', args: [], env: { T: '${GH_TOKEN}' } },
    db: { command: 'dbhub', args: ['--dsn', 'sqlite:///x'], env: { DSN_TOKEN: 'té' } },
    web: { type: 'http', url: 'https://example.org/mcp', headers: { Authorization: 'Bearer ${WEB_TOKEN}' } },
    live: { type: 'http', url: 'http://127.0.0.1:9/mcp', headers: {} },
    old: { type: 'sse', url: 'http://127.0.0.1:9/sse', headers: {} },
    oc: { command: 'oc', args: ['-x'], env: { A: '${B}' } },
  }
  assert.deepEqual(JSON.parse(read('metier.json')), { mcpServers: servers })
  assert.deepEqual(printed.json, { mcpServers: servers })
  const left = (ran.json.servers as JsonObject[]).filter(({ state }) => state === 'left')
  assert.deepEqual(
    left.map(({ server }) => server),
    ['gone', 'metier', 'gw', 'off'],
  )
  assert.deepEqual(ran.json.secrets, ['db: DSN_TOKEN'])
  assert.equal((ran.json.files as JsonObject[]).filter(({ error }) => error !== undefined).length, 1)
  assert.equal(statSync(join(folder, 'metier.json')).mode & 0o777, 0o600)
  assert.deepEqual(
    files.map((file) => [readFileSync(file, 'utf8'), statSync(file).mtimeMs]),
    before,
  )
  const again = await run('init', '--json')
  assert.deepEqual(
    [again.json.written, again.json.servers.every(({ state }: JsonObject) => state !== 'imported')],
    [false, true],
  )
})

test('init keeps what its file has, and refuses one whose comments would be lost', async (t) => {
  const { write, read, run } = person(t)
  write('.mcp.json', { mcpServers: { fs: { command: 'new' }, more: { command: 'more' } } })
  write('metier.json', { policy: { permissions: 'minimal' }, servers: { fs: { command: 'mine' } } })
  assert.equal((await run('init')).code, 0)
  const kept = JSON.parse(read('metier.json'))
  assert.deepEqual(Object.keys(kept.servers), ['fs', 'more'])
  assert.deepEqual([kept.servers.fs.command, kept.policy.permissions], ['mine', 'minimal'])
  const commented = '{ "servers": {} /* mine */ }'
  write('metier.json', commented)
  const refused = await run('init', '--json')
  assert.deepEqual([refused.code, refused.json.error.code], [3, 'CONFIG_INVALID'])
  assert.equal(read('metier.json'), commented)
})

test('connect writes our entry into the configuration of each host, once, and disconnect takes it out again', async (t) => {
  const { folder, write, read, run } = person(t)
  const config = write('metier.json', {})
  const args = ['serve', '--stdio', '--config', config]
  const started = { command: binary, args }
  const table: [host: string, file: string, before: JsonObject, after: JsonObject][] = [
    ['claude-code', '.claude.json', { n: 1 }, { n: 1, mcpServers: { metier: { type: 'stdio', ...started } } }],
    ['cursor', '.cursor/mcp.json', { mcpServers: { a: {} } }, { mcpServers: { a: {}, metier: started } }],
    [
      'vscode',
      '.config/Code/User/mcp.json',
      { inputs: [] },
      { inputs: [], servers: { metier: { type: 'stdio', ...started } } },
    ],
    ['gemini', '.gemini/settings.json', { a: 'x' }, { a: 'x', mcpServers: { metier: started } }],
    [
      'opencode',
      '.config/opencode/opencode.json',
      {},
      { mcp: { metier: { type: 'local', command: [binary, ...args], enabled: true } } },
    ],
  ]
  for (const [host, file, before, after] of table) {
    write(file, before)
    const as = read(file)
    const printed = await run('connect', host, '--print')
    assert(printed.stdout.includes(binary), host)
    assert.deepEqual(JSON.parse(read(file)), before)
    const ran = await run('connect', host, '--json')
    assert.deepEqual([ran.code, ran.json.written, ran.json.file], [0, true, join(folder, file)], ran.stderr)
    assert.deepEqual(JSON.parse(read(file)), after)
    assert.equal((await run('connect', host, '--json')).json.written, false)
    await run('disconnect', host)
    assert.equal(read(file), as, 'to the byte')
  }
  assert.equal((await run('connect', 'emacs')).code, 2)
})

test('connect makes a file where there is none, and disconnect leaves none; what it cannot read or would destroy it leaves alone', async (t) => {
  const { folder, write, read, run } = person(t)
  for (const [host, file] of [
    ['cursor', '.cursor/mcp.json'],
    ['codex', '.codex/config.toml'],
  ] as const) {
    assert.equal((await run('connect', host)).code, 0)
    assert(read(file).includes(binary))
    assert.equal((await run('disconnect', host)).code, 0)
    assert.equal(existsSync(join(folder, file)), false, file)
  }
  const odd: [host: string, file: string, content: string | Buffer][] = [
    ['cursor', '.cursor/mcp.json', '{"mcpServers": ["a"]}'],
    ['gemini', '.gemini/settings.json', Buffer.from('\ufeff{}', 'utf16le')],
    ['vscode', '.config/Code/User/mcp.json', '{"servers": {'],
  ]
  for (const [host, file, content] of odd) {
    write(file, '')
    writeFileSync(join(folder, file), content)
    const { code, json } = await run('connect', host, '--json')
    assert.deepEqual([code, json.error.code], [3, 'CONFIG_INVALID'], host)
    assert.deepEqual(readFileSync(join(folder, file)), Buffer.from(content))
  }
  mkdirSync(join(folder, '.config', 'opencode', 'opencode.json'), { recursive: true })
  assert.equal((await run('connect', 'opencode', '--json')).json.error.code, 'CONFIG_INVALID', 'a folder')
})

test('connect codex keeps the file as it is written, and disconnect gives it back', async (t) => {
  const { folder, write, read, run } = person(t)
  write('real.toml', codex)
  mkdirSync(join(folder, '.codex'))
  symlinkSync(join(folder, 'real.toml'), join(folder, '.codex', 'config.toml'))
  assert.equal((await run('connect', 'codex', '--http')).code, 0)
  assert.equal(read('.codex/config.toml'), `${codex}\n[mcp_servers.metier]\nurl = "http://127.0.0.1:7420/mcp"\n`)
  await run('connect', 'codex')
  assert(lstatSync(join(folder, '.codex', 'config.toml')).isSymbolicLink())
  const { mcp_servers: servers } = parseToml(read('real.toml')) as { mcp_servers: Record<string, JsonObject> }
  assert.deepEqual({ ...servers.metier }, { command: binary, args: ['serve', '--stdio'] })
  write('real.toml', `${read('real.toml')}\n[mcp_servers.metier.env]\nA = "b"\n\n# yours\n[last]\n`)
  await run('disconnect', 'codex')
  assert.equal(read('real.toml').trim(), `${codex.trim()}\n\n\n# yours\n[last]`)
  write('real.toml', 'mcp_servers = { metier = { command = "x" } }')
  assert.equal((await run('connect', 'codex', '--json')).json.error.code, 'CONFIG_INVALID')
})

test('init names what a host has switched off and why, whether it writes or only shows', async (t) => {
  const { folder, write, run } = person(t)
  write('.claude.json', {
    mcpServers: { kept: { command: 'kept' }, gone: { command: 'gone' } },
    projects: { [folder]: { disabledMcpServers: ['gone'] } },
  })
  const why = `it is switched off for this project ("disabledMcpServers" in ${join(folder, '.claude.json')})`
  const shown = await run('init', '--print')
  assert.deepEqual(Object.keys(shown.json.mcpServers), ['kept'])
  assert.equal(shown.stderr, `- gone of claude-code is left out: ${why}\n`)
  const { stdout } = await run('init')
  assert.match(stdout, /^\+ kept/m)
  assert.ok(
    stdout.split('\n').some((line) => line.startsWith('- gone') && line.endsWith(why)),
    stdout,
  )
})

test('init, connect and disconnect follow CLAUDE_CONFIG_DIR and CODEX_HOME', async (t) => {
  const { folder, write, read, runWith } = person(t)
  const env = { CLAUDE_CONFIG_DIR: join(folder, 'work'), CODEX_HOME: 'work/codex' }
  const servers = (name: string) => ({ mcpServers: { [name]: { command: name } } })
  write('.claude.json', servers('unused'))
  write('work/.claude.json', servers('a'))
  write('work/settings.json', { disabledMcpjsonServers: ['b'] })
  write('.mcp.json', servers('b'))
  write('work/codex/config.toml', '[mcp_servers.c]\ncommand = "c"\n')
  const { json } = await runWith(env, 'init', '--json')
  assert.deepEqual(
    json.servers.map(({ server, state }: JsonObject) => [server, state]),
    [
      ['b', 'left'],
      ['a', 'imported'],
      ['c', 'imported'],
    ],
  )
  for (const [host, file] of [
    ['claude-code', 'work/.claude.json'],
    ['codex', 'work/codex/config.toml'],
  ] as const) {
    const before = read(file)
    assert.equal((await runWith(env, 'connect', host, '--json')).json.file, join(folder, file))
    assert.ok(read(file).includes(binary))
    await runWith(env, 'disconnect', host)
    assert.equal(read(file), before)
  }
  const none = await runWith({ CLAUDE_CONFIG_DIR: '', CODEX_HOME: '' }, 'connect', 'codex', '--print', '--json')
  assert.equal(none.json.file, join(folder, '.codex/config.toml'), 'an empty one is none')
})
