/**
 * How the words of a command line are read: help wherever it is asked for, and a mistake told with
 * what would be right.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { readCommand } from '#show'
import { binary, done, effects, metier, serve, workspace } from '#test'
import { groups } from './command-groups.ts'

const told = async (...argv: string[]): Promise<string> => {
  try {
    const { name, words } = await readCommand(argv)
    return [name, ...words].join(' ')
  } catch (error) {
    return (error as Error).message
  }
}

test('readCommand() gives help wherever it is asked for', async () => {
  assert.equal(await told(), 'help')
  assert.equal(await told('--help'), 'help')
  assert.equal(await told('-h'), 'help')
  assert.equal(await told('help', 'execute'), 'help execute')
  assert.equal(await told('execute', '--help', '--code'), 'help execute')
  assert.equal(await told('run', '-h'), 'help run')
  assert.equal(await told('--version'), 'version')
})

test('readCommand() tells what was meant', async () => {
  assert.equal(
    await told('run'),
    '"run" is only half a command; there are run show, run resume, run fork, run replay, run cancel, run settle',
  )
  assert.match(await told('audit', 'verfy'), /^there is no command "audit verfy"; there are audit verify, /)
  assert.equal(await told('exekute'), 'there is no command "exekute", but "execute"; "metier help" lists them')
  assert.equal(await told('rusn'), 'there is no command "rusn", but "runs", "run"; "metier help" lists them')
  assert.equal(await told('teleport'), 'there is no command "teleport"; "metier help" lists them')
  assert.equal(await told('toString'), 'there is no command "toString"; "metier help" lists them')
  assert.equal(
    await told('runs', '--bogus'),
    'there is no option --bogus\nusage: metier runs [--status S,…] [--since 2h|2026-11-01] [--tool ID] [--server NAME] [--mode M] [--limit N]',
  )
})

test('every group is loaded by the first word of each of its commands', async () => {
  for (const { words, load } of groups) {
    const first = Object.keys(await load()).map((name) => name.split(' ')[0])
    assert.deepEqual([...new Set(first)].sort(), [...words].sort())
  }
})

test('a wrong word in a command is exit code 2, and is said without a stack', async (t) => {
  const space = workspace(t)
  const wrong = async (...argv: string[]) => {
    const { code, stderr, stdout } = await metier(space, argv)
    assert.equal(code, 2, `${argv.join(' ')}: ${stdout}${stderr}`)
    assert.doesNotMatch(stderr, /\n {4}at /)
    return stderr.trim()
  }
  assert.equal(await wrong('runs', '--limit', 'abc'), 'metier: --limit takes a whole number of at least 1, not "abc"')
  assert.match(await wrong('serve', '--port', '70000'), /--port takes a whole number from 0 to 65535, not "70000"/)
  assert.match(await wrong('discover', 'x', '--limit', '51'), /--limit takes a whole number from 1 to 50, not "51"/)
  assert.match(await wrong('execute', '--code', 'none.ts'), /Cannot read none.ts: there is no such file/)
  assert.match(await wrong('execute', '--code', '-', '--args', '{'), /Cannot read --args: it is not JSON/)
  assert.match(await wrong('artifact', 'put', 'none.txt'), /Cannot read none.txt: there is no such file/)
  assert.match(await wrong('execute'), /usage: metier execute/)
})

test('help and version need no configuration that can be read', async (t) => {
  const space = workspace(t)
  writeFileSync(space.file, '{')
  assert.match((await metier(space, ['--help'])).stdout, /Every command takes --json/)
  assert.equal((await metier(space, ['--version', '--json'])).json.version.split('.').length, 3)
  assert.match(
    (await metier(space, ['run', '--help'])).stdout,
    /usage: metier run show RUN\n.*\nusage: metier run resume RUN/,
  )
  const [{ usage }] = (await metier(space, ['help', 'purge', '--json'])).json
  assert.equal(usage, 'purge RUN')
  assert.equal((await metier(space, ['runs'])).code, 3)
})

test('audit verify of a run that never was is no alarm', async (t) => {
  const space = workspace(t)
  const { code, json } = await metier(space, ['audit', 'verify', '01a1e5a1-d98b-7b34-a4bc-432b8957b190', '--json'])
  assert.deepEqual([code, json.error?.code], [1, 'RUN_NOT_FOUND'])
})

test('audit verify tells what it finds in a record that cannot be opened, in its own form', async (t) => {
  const space = workspace(t)
  mkdirSync(space.home, { recursive: true })
  writeFileSync(join(space.home, 'metier.db'), 'no database')
  const { code, json } = await metier(space, ['audit', 'verify', '--json'])
  assert.deepEqual([code, json.ok, json.reason], [7, false, 'file is not a database'])
  const nowhere = await metier(space, ['audit', 'verify', '--home', join(space.folder, 'nowhere'), '--json'])
  assert.deepEqual([nowhere.code, nowhere.json], [0, { ok: true, events: 0 }])
  assert.equal(existsSync(join(space.folder, 'nowhere')), false)
})

test('artifact put keeps every byte of what it is given on stdin', async (t) => {
  const space = workspace(t)
  const input = Uint8Array.from({ length: 512 }, (_, index) => index % 256)
  const { json } = await metier(space, ['artifact', 'put', '-', '--json'], { input })
  assert.equal(json.bytes, 512)
})

test('doctor tells of a home that cannot be opened, in one document', async (t) => {
  const space = workspace(t)
  const { code, json } = await metier(space, ['doctor', '--home', join(space.file, 'home'), '--json'])
  assert.deepEqual([code, json?.error?.code], [3, 'CONFIG_INVALID'])
  assert.match(json.error.message, /^Cannot use the home folder .* Choose a folder that you may write with --home$/)
})

test('a configuration that is no readable file is told as that, and a setting that nobody reads is said aloud', async (t) => {
  const space = workspace(t, {
    config: {
      flavour: { permissions: 'minimal' },
      mcpServers: { x: { command: 'x', args: ['${NOT_SET_A}'], theirs: 1 } },
    },
  })
  const { code, json } = await metier(space, ['runs', '--json', '--config', space.folder])
  assert.deepEqual([code, json.error.code], [3, 'CONFIG_INVALID'])
  const { checks } = (await metier(space, ['doctor', '--json'])).json
  const { detail, fix } = checks.find(({ name }: { name: string }) => name === 'unread fields')
  assert.deepEqual([detail, fix], ['/mcpServers/x/theirs, /flavour', 'check the spelling of /flavour'])
  const served = await serve(t, space)
  await served.stop()
  assert.match(served.stderr(), /unread +\/flavour: there is no such setting/)
  assert.match(served.stderr(), /not set +NOT_SET_A/)
})

test('serve says where it is, also to a program, and that a tool to expose is not there; so does doctor', async (t) => {
  const space = workspace(t, { config: { expose: ['fx:add', 'fx:none', 'gone:read'] } })
  const { code, json } = await metier(space, ['doctor', '--json'])
  const { ok, detail } = json.checks.find(({ name }: { name: string }) => name === 'expose')
  assert.deepEqual([code, ok, detail], [1, false, 'there is no fx:none, no gone:read'])
  const served = await serve(t, space, ['--json'])
  const [document] = await once(served.child.stdout!, 'data')
  const { url, mcp, home, servers, answer } = JSON.parse(document)
  assert.deepEqual([url, mcp, home, servers], [served.url, `${served.url}/mcp`, space.home, ['fx']])
  assert.ok(served.stderr().includes(answer), 'the link with the token')
  await served.stop()
  assert.match(served.stderr(), /expose +gone:read: the configuration has no such server/)
})

test('a run goes on where nobody reads what is told of it, and a host that is gone leaves no call in doubt', async (t) => {
  const space = workspace(t)
  const env = { PATH: process.env.PATH!, HOME: space.folder, METIER_HOME: space.home, METIER_CONFIG: space.file }
  const told = spawn(binary, ['execute', '--code', '-', '--json'], { env })
  told.stderr.destroy()
  told.stdin.end(`return (await mcp.fx.add({ key: 'a', by: 1 })).total`)
  assert.equal(JSON.parse(await text(told.stdout)).result, 1)
  const hosted = spawn(binary, ['serve', '--stdio'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  const code = `await mcp.fx.add({ key: 'b', by: 1, ms: 700 }); return 1`
  const call = { name: 'execute', arguments: { implementation: { type: 'code', code } } }
  const send = (message: object) => hosted.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'test', version: '1' }
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } })
  send({ id: 2, method: 'tools/call', params: call })
  while (!effects(space).some(({ args }) => args.key === 'b')) await pause(20)
  hosted.stdout!.destroy()
  send({ id: 3, method: 'ping' })
  await once(hosted, 'exit')
  assert.equal(done(space, 'add').length, 2)
  const [{ run }] = (await metier(space, ['runs', '--json'])).json
  assert.equal((await metier(space, ['run', 'resume', run, '--json'])).json.status, 'done')
})
