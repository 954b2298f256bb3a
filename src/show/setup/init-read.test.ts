/**
 * Tests of finding the servers of each host where it keeps them on each system, in files as they
 * are really written.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { temporaryFolder } from '#test'
import type { Place } from './connect-hosts.ts'
import { findServers } from './init-read.ts'

function place(t: TestContext, platform: Place['platform'], files: Record<string, string | Buffer>): Place {
  const base = temporaryFolder(t)
  for (const [path, content] of Object.entries(files)) {
    const file = join(base, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  return { home: join(base, 'home'), folder: join(base, 'project'), platform }
}

/** In short: host, name, and its entry or why it is left. */
function found(where: Place) {
  const { servers, files } = findServers(where)
  const lines = servers.map((server) => [server.host, server.name, 'why' in server ? server.why : server.entry])
  return { lines, errors: files.flatMap(({ error }) => error ?? []) }
}

const server = (key: string, name: string) => JSON.stringify({ [key]: { [name]: { command: name } } })

test('findServers() knows where each host keeps its servers, on each system', (t) => {
  const settings = { linux: '.config', darwin: 'Library/Application Support', win32: 'AppData/Roaming' } as const
  for (const platform of ['linux', 'darwin', 'win32'] as const) {
    const where = place(t, platform, {
      'project/.mcp.json': server('mcpServers', 'a1'),
      'home/.claude.json': server('mcpServers', 'a2'),
      [`home/${settings[platform]}/Claude/claude_desktop_config.json`]: server('mcpServers', 'b'),
      'project/.cursor/mcp.json': server('mcpServers', 'c1'),
      'home/.cursor/mcp.json': server('mcpServers', 'c2'),
      'project/.vscode/mcp.json': server('servers', 'd1'),
      [`home/${settings[platform]}/Code/User/mcp.json`]: server('servers', 'd2'),
      'project/.codex/config.toml': '[mcp_servers.e1]\ncommand = "e1"\n',
      'home/.codex/config.toml': '[mcp_servers.e2]\r\ncommand = "e2"\r\n',
      'project/.gemini/settings.json': server('mcpServers', 'f1'),
      'home/.gemini/settings.json': server('mcpServers', 'f2'),
      'project/opencode.json': server('mcp', 'g1'),
      'home/.config/opencode/opencode.jsonc': `// mine\n${server('mcp', 'g2')}`,
    })
    const { lines, errors } = found(where)
    assert.deepEqual(errors, [], platform)
    const names = lines.map(([host, name]) => `${host} ${name}`)
    assert.deepEqual(names, [
      ...['claude-code a1', 'claude-code a2', 'claude-desktop b', 'cursor c1', 'cursor c2', 'vscode d1', 'vscode d2'],
      ...['codex e1', 'codex e2', 'gemini f1', 'gemini f2', 'opencode g1', 'opencode g2'],
    ])
  }
})

test('findServers() reads files as people and Windows write them: comments, commas, marks, two bytes a letter, nothing', (t) => {
  const odd = `\uFEFF{\r\n  // a line\r\n  "mcpServers": { /* two */ "a": { "command": "cmd", "args": ["/c", "npx", "C:\\\\Users\\\\x\\\\s.js",], }, },\r\n}\r\n`
  const where = place(t, 'win32', {
    'project/.mcp.json': odd,
    'home/.cursor/mcp.json': Buffer.from(`\uFEFF${server('mcpServers', 'wide')}`, 'utf16le'),
    'home/.gemini/settings.json': '',
    'project/.vscode/mcp.json': '{ "servers": [], "inputs": null }',
    'home/.claude.json': '{ "mcpServers": { "a": { "command": "x" }',
  })
  const { lines, errors } = found(where)
  assert.deepEqual(lines, [
    ['claude-code', 'a', { command: 'cmd', args: ['/c', 'npx', 'C:\\Users\\x\\s.js'], env: {} }],
    ['cursor', 'wide', { command: 'wide', args: [], env: {} }],
  ])
  assert.equal(errors.length, 1)
})

test('findServers() finds the servers of a project under its path, however Windows writes that', (t) => {
  const where = place(t, 'win32', {
    'home/.claude.json': JSON.stringify({
      projects: {
        'C:/code/shop': { mcpServers: { one: { command: 'one' } } },
        'C:\\code\\other': { mcpServers: { two: { command: 'two' } } },
      },
    }),
  })
  const names = (folder: string) => found({ ...where, folder }).lines.map(([, name]) => name)
  assert.deepEqual(names('C:\\code\\shop'), ['one'])
  assert.deepEqual(names('C:\\code\\other'), ['two'])
  assert.deepEqual(names('C:\\code'), [])
})

test('findServers() says each thing in our words: variables, headers, and the names of other hosts for both', (t) => {
  const where = place(t, 'linux', {
    'project/.cursor/mcp.json': JSON.stringify({
      mcpServers: {
        c: { command: '${userHome}/bin/c', args: ['${workspaceFolder}', '$HOME'], env: { K: '${env:KEY}' } },
      },
    }),
    'project/.vscode/mcp.json': JSON.stringify({
      servers: {
        n: { command: 'n', env: { GIVEN: 1, TAKEN: null } },
        v: { type: 'http', url: 'https://v.example/mcp', headers: { Authorization: 'Bearer ${input:v-token}' } },
        socket: { type: 'http', url: 'unix:///tmp/v.sock' },
      },
    }),
    'home/.codex/config.toml': `[mcp_servers.x]
url = "https://x.example/mcp"
env_http_headers = { "X-Key" = "X_KEY" }
[mcp_servers.y]
command = "y"
env_vars = ["Y_TOKEN"]
[mcp_servers.z]
command = "z"
enabled = false
`,
    'home/.gemini/settings.json': JSON.stringify({
      mcpServers: { g: { command: 'g', env: { A: '$GEMINI_A', B: '${GEMINI_B}', C: 'cost $5' }, trust: true } },
    }),
    'project/opencode.json': JSON.stringify({
      mcp: {
        o: { type: 'remote', url: 'https://o.example/mcp', headers: { 'X-Key': '{env:O_KEY}' } },
        bad: { type: 'local', command: [] },
      },
    }),
  })
  assert.deepEqual(found(where).lines, [
    ['cursor', 'c', { command: '${HOME}/bin/c', args: ['${workspaceFolder}', '$HOME'], env: { K: '${env:KEY}' } }],
    ['vscode', 'n', { command: 'n', args: [], env: { GIVEN: '1' } }],
    ['vscode', 'v', { type: 'http', url: 'https://v.example/mcp', headers: { Authorization: 'Bearer ${V_TOKEN}' } }],
    ['vscode', 'socket', 'its url is not an address that begins with http:// or https://'],
    ['codex', 'x', { type: 'http', url: 'https://x.example/mcp', headers: { 'X-Key': '${X_KEY}' } }],
    ['codex', 'y', { command: 'y', args: [], env: { Y_TOKEN: '${Y_TOKEN}' } }],
    ['codex', 'z', 'it is switched off there'],
    ['gemini', 'g', { command: 'g', args: [], env: { A: '${GEMINI_A}', B: '${GEMINI_B}', C: 'cost $5' } }],
    ['opencode', 'o', { type: 'http', url: 'https://o.example/mcp', headers: { 'X-Key': '${O_KEY}' } }],
    ['opencode', 'bad', 'it names neither a command nor an address'],
  ])
})

test('findServers() passes over ourselves, however we are written, and changes no file', (t) => {
  const ours = {
    metier: { command: 'anything' },
    npx: { command: 'npx', args: ['-y', 'metier@1.2.3', 'serve', '--stdio'] },
    windows: { command: 'C:\\tools\\metier', args: ['serve'] },
    shim: { command: 'C:\\Users\\x\\npm\\metier.cmd', args: ['serve', '--stdio'] },
    gateway: { url: 'http://localhost:7420/mcp/' },
    passage: { url: 'http://127.0.0.1:7420/mcp/fs' },
  }
  const files = { 'project/.mcp.json': JSON.stringify({ mcpServers: { ...ours, other: { command: 'metier-tools' } } }) }
  const where = place(t, 'linux', files)
  assert.deepEqual(
    found(where).lines.map(([, name, what]) => (typeof what === 'string' ? what : name)),
    [...Array(6).fill('it is Métier itself'), 'other'],
  )
  assert.deepEqual(readdirSync(where.folder), ['.mcp.json'])
  assert.equal(readFileSync(join(where.folder, '.mcp.json'), 'utf8'), files['project/.mcp.json'])
})

test('findServers() leaves out what Claude Code does not use in this project, and says where it is switched off', (t) => {
  const names = (...list: string[]) => Object.fromEntries(list.map((name) => [name, { command: name }]))
  const base = temporaryFolder(t)
  const where: Place = { home: join(base, 'home'), folder: join(base, 'project'), platform: 'linux' }
  const write = (path: string, value: object) => {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), JSON.stringify(value))
  }
  write('project/.mcp.json', { mcpServers: names('on', 'off', 'refused', 'local', 'shared', 'mine') })
  write('home/.claude.json', {
    mcpServers: names('user', 'userOff', 'refused'),
    disabledMcpServers: ['user'],
    projects: {
      [where.folder]: {
        disabledMcpServers: ['off', 'userOff'],
        disabledMcpjsonServers: ['refused', 'user'],
        mcpServers: names('here'),
      },
      '/elsewhere': { disabledMcpServers: ['on'] },
    },
  })
  write('project/.claude/settings.local.json', { disabledMcpjsonServers: ['local', 7] })
  write('project/.claude/settings.json', { disabledMcpjsonServers: ['shared', 'user'] })
  write('home/.claude/settings.json', { disabledMcpjsonServers: ['mine'] })
  const own = join(base, 'home/.claude.json')
  const refused = (file: string) => `it was refused for this project ("disabledMcpjsonServers" in ${join(base, file)})`
  const lines = found(where).lines.map(([, name, what]) => [name, typeof what === 'string' ? what : 'taken'])
  assert.deepEqual(lines, [
    ['on', 'taken'],
    ['off', `it is switched off for this project ("disabledMcpServers" in ${own})`],
    ['refused', refused('home/.claude.json')],
    ['local', refused('project/.claude/settings.local.json')],
    ['shared', refused('project/.claude/settings.json')],
    ['mine', refused('home/.claude/settings.json')],
    ['user', 'taken'],
    ['userOff', `it is switched off for this project ("disabledMcpServers" in ${own})`],
    ['refused', 'taken'],
    ['here', 'taken'],
  ])
})

test('findServers() leaves out what Gemini excludes, does not allow or has switched off, in small letters or large ones', (t) => {
  const mcpServers = { A: { command: 'a' }, b: { command: 'b' }, c: { command: 'c' } }
  const lines = (files: Record<string, string>) => {
    const where = place(t, 'linux', files)
    return found(where).lines.map(([, name, what]) => [
      name,
      typeof what === 'string' ? what.replaceAll(dirname(where.home), '') : 'taken',
    ])
  }
  const user = 'home/.gemini/settings.json'
  assert.deepEqual(lines({ [user]: JSON.stringify({ mcp: { excluded: ['a'], allowed: [] }, mcpServers }) }), [
    ['A', 'it is switched off ("mcp.excluded" in /home/.gemini/settings.json names it)'],
    ['b', 'taken'],
    ['c', 'taken'],
  ])
  const project = JSON.stringify({ mcp: { allowed: ['a', 'b'] } })
  assert.deepEqual(
    lines({
      'project/.gemini/settings.json': project,
      [user]: JSON.stringify({ mcp: { allowed: ['c'] }, mcpServers }),
      'home/.gemini/mcp-server-enablement.json': JSON.stringify({ a: { enabled: false }, b: { enabled: true } }),
    }),
    [
      ['A', 'it is switched off in /home/.gemini/mcp-server-enablement.json'],
      ['b', 'taken'],
      ['c', 'it is switched off ("mcp.allowed" in /project/.gemini/settings.json does not name it)'],
    ],
  )
})

test('findServers() lets the file of a project switch off, and on, what the person has', (t) => {
  const where = place(t, 'linux', {
    'project/opencode.json': JSON.stringify({ mcp: { one: { enabled: false }, two: { enabled: true } } }),
    'home/.config/opencode/opencode.json': JSON.stringify({
      mcp: {
        one: { type: 'local', command: ['one'] },
        two: { type: 'local', command: ['two'], enabled: false },
        three: { type: 'local', command: ['three'], enabled: false },
      },
    }),
    'project/.codex/config.toml': '[mcp_servers.x]\nenabled = false\n',
    'home/.codex/config.toml': '[mcp_servers.x]\ncommand = "x"\n',
    'project/.cursor/mcp.json': JSON.stringify({ mcpServers: { c: { command: 'c', disabled: true } } }),
    'project/.vscode/mcp.json': JSON.stringify({ servers: { d: { command: 'd', disabled: true } } }),
  })
  const project = (file: string) => `it is switched off in ${join(where.folder, file)}`
  const lines = found(where).lines.map(([, name, what]) => [name, typeof what === 'string' ? what : 'taken'])
  assert.deepEqual(lines, [
    ['c', 'it is switched off there'],
    ['d', 'it is switched off there'],
    ['x', 'it is switched off there'],
    ['x', project('.codex/config.toml')],
    ['one', 'it is switched off there'],
    ['two', 'it names neither a command nor an address'],
    ['one', project('opencode.json')],
    ['two', 'taken'],
    ['three', 'it is switched off there'],
  ])
})
