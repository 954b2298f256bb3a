/**
 * A server in its box, which tries for real to get at what it was not given: files, processes,
 * environments, networks.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { Json, JsonObject } from '#model'
import { caller, metier, openSpace, root, serve, temporaryFolder, type Workspace, whyNot } from '#test'

const skip = whyNot('os')
const program = join(root, 'test', 'servers', 'attacker.ts')

type Attack = { read: string; written: string; other: string; space: Workspace; run: (code: string) => Promise<Json> }

/**
 * The attacker with one folder to read, one to write, and one that is not its business. Its run()
 * gives back the value or the error.
 */
async function boxed(t: TestContext, sandbox: JsonObject = {}, env: JsonObject = {}): Promise<Attack> {
  const folder = temporaryFolder(t, async () => {
    for (const verbs of space.opened) await verbs.close()
  })
  const [read, written, other] = ['read', 'written', 'other'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  for (const one of [read, written, other]) {
    mkdirSync(one)
    writeFileSync(join(one, 'file.txt'), `in ${one}`)
  }
  const file = join(written, 'metier.json')
  const evil = {
    command: process.execPath,
    args: [program],
    env: { OWN: 'mine', ...env },
    sandbox: { tier: 'os', folders: [read, join(root, 'test', 'servers')], write: [written], ...sandbox },
  }
  writeFileSync(file, JSON.stringify({ mcpServers: { evil }, policy: { permissions: 'privileged' } }))
  const space: Workspace = { folder: written, file, home: join(written, '.metier'), witness: '', opened: [] }
  const verbs = await openSpace(space)
  const run = async (code: string): Promise<Json> => {
    const text = 'try { return { value: await mcp.evil.run(args) } } catch (error) { return { error: error.message } }'
    const answer = await verbs.execute({ implementation: { type: 'code', code: text }, args: { code } }, caller)
    assert.equal(answer.status, 'done', JSON.stringify(answer))
    const { value, error } = answer.result as { value?: Json; error?: string }
    return error ?? value ?? null
  }
  return { read, written, other, space, run }
}

/** Evaluates each attempt and gives back its result or its error's code. */
const attempts = (each: Record<string, string>) => `
  const fs = await load('node:fs'), net = await load('node:net'), os = await load('node:os')
  const { execFileSync } = await load('node:child_process')
  const quietly = { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' }
  const reach = (to) => new Promise((resolve) => {
    const socket = net.connect(to).on('connect', () => resolve('CONNECTED')).on('error', (error) => resolve(error.code))
    setTimeout(() => resolve('NO ANSWER'), 3000)
  })
  const said = {}
  ${Object.entries(each)
    .map(
      ([name, code]) => `try { said[${JSON.stringify(name)}] = await (async () => { ${code} })() }
  catch (error) { said[${JSON.stringify(name)}] = error.code ?? error.message }`,
    )
    .join('\n')}
  return said`

test('a boxed server reads and writes what is named, and nothing else of the disk', { skip }, async (t) => {
  const { read, written, other, run } = await boxed(t)
  symlinkSync(join(other, 'file.txt'), join(written, 'link'))
  const readable = (path: string) => `return fs.readFileSync(${JSON.stringify(path)}, 'utf8')`
  const writable = (path: string) => `fs.writeFileSync(${JSON.stringify(path)}, 'evil'); return 'WRITTEN'`
  const core = '/proc/sys/kernel/core_pattern'
  const before = readFileSync(core, 'utf8')
  const said = (await run(
    attempts({
      named: readable(join(read, 'file.txt')),
      writes: writable(join(written, 'new.txt')),
      'another folder': readable(join(other, 'file.txt')),
      'through a link': readable(join(written, 'link')),
      shadow: readable('/etc/shadow'),
      passwd: `return /^root:/m.test(fs.readFileSync('/etc/passwd', 'utf8'))`,
      'the home folder': `return fs.readdirSync(${JSON.stringify(homedir())})`,
      ssh: `return fs.readdirSync(${JSON.stringify(join(homedir(), '.ssh'))})`,
      'our home': `return fs.readdirSync(${JSON.stringify(join(written, '.metier'))})`,
      'our configuration': readable(join(written, 'metier.json')),
      'writes where it reads': writable(join(read, 'file.txt')),
      'writes elsewhere': writable(join(other, 'file.txt')),
      'writes our configuration': `fs.renameSync(${JSON.stringify(join(written, 'new.txt'))}, ${JSON.stringify(join(written, 'metier.json'))}); return 'WRITTEN'`,
      'writes the root': writable('/evil'),
      'writes the system': writable('/usr/evil'),
      'writes etc': writable('/etc/evil'),
      // What stands there already: an attack that succeeds changes nothing.
      'a setting of the kernel': `fs.writeFileSync('${core}', fs.readFileSync('${core}')); return 'WRITTEN'`,
      'its own memory of processes': `fs.writeFileSync('/proc/1/oom_score_adj', '0'); return 'WRITTEN'`,
      'the devices': `return fs.readdirSync('/dev').filter((name) => /^(?:sd|vd|nvme|mem|kmsg|kvm|loop)/.test(name))`,
      sys: `return fs.readdirSync('/sys')`,
      'projects in the system': `return fs.existsSync('/usr/src') ? fs.readdirSync('/usr/src') : []`,
    }),
  )) as JsonObject
  assert.deepEqual(said, {
    named: `in ${read}`,
    writes: 'WRITTEN',
    'another folder': 'ENOENT',
    'through a link': 'ENOENT',
    shadow: 'ENOENT',
    passwd: false,
    'the home folder': 'ENOENT',
    ssh: 'ENOENT',
    'our home': [],
    'our configuration': '',
    'writes where it reads': 'EROFS',
    'writes elsewhere': 'ENOENT',
    'writes our configuration': 'EBUSY',
    'writes the root': 'EROFS',
    'writes the system': 'EROFS',
    'writes etc': 'EROFS',
    'a setting of the kernel': 'EROFS',
    'its own memory of processes': 'EROFS',
    'the devices': [],
    sys: 'ENOENT',
    'projects in the system': [],
  })
  assert.equal(readFileSync(core, 'utf8'), before)
  assert.equal(readFileSync(join(written, 'new.txt'), 'utf8'), 'evil')
  assert.equal(readFileSync(join(other, 'file.txt'), 'utf8'), `in ${other}`)
})

test('a boxed server sees no process, no environment and no descriptor but its own', { skip }, async (t) => {
  process.env.SECRET_OF_OTHERS = 'nobody-knows'
  t.after(() => delete process.env.SECRET_OF_OTHERS)
  const { run } = await boxed(t)
  const said = (await run(
    attempts({
      processes: `return fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).length < 8`,
      'environments of others': `
        const all = fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name))
        return all.some((pid) => { try { return fs.readFileSync('/proc/' + pid + '/environ', 'utf8').includes('nobody-knows') } catch { return false } })`,
      'its own environment': `return Object.keys(process.env).sort()`,
      'kills us': `process.kill(${process.pid}, 0); return 'ALIVE'`,
      'opens a namespace': `execFileSync('unshare', ['-r', 'true'], quietly); return 'OPENED'`,
      mounts: `execFileSync('mount', ['-t', 'tmpfs', 'none', '/tmp'], quietly); return 'MOUNTED'`,
      descriptors: `return fs.readdirSync('/proc/self/fd').map((fd) => { try { return fs.readlinkSync('/proc/self/fd/' + fd) } catch { return '' } }).filter((to) => to.startsWith('/') && !/^\\/(?:dev|proc)\\//.test(to))`,
      capabilities: `return /CapEff:\\s*0+$/m.test(fs.readFileSync('/proc/self/status', 'utf8'))`,
      filtered: `return /Seccomp:\\s*2/.test(fs.readFileSync('/proc/self/status', 'utf8'))`,
    }),
  )) as JsonObject
  assert.deepEqual(said, {
    processes: true,
    'environments of others': false,
    'its own environment': ['HOME', 'OWN', 'PATH', 'PWD', 'TMPDIR'],
    'kills us': 'ESRCH',
    'opens a namespace': said['opens a namespace'],
    mounts: said.mounts,
    descriptors: [],
    capabilities: true,
    filtered: true,
  })
  assert.notEqual(said['opens a namespace'], 'OPENED')
  assert.notEqual(said.mounts, 'MOUNTED')
})

async function listen(t: TestContext): Promise<{ port: number; seen: string[] }> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(String(request.url))
    response.end('reached')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => server.close())
  return { port: (server.address() as AddressInfo).port, seen }
}

test('a boxed server without hosts reaches nothing, the loopback of this machine included', { skip }, async (t) => {
  const { port, seen } = await listen(t)
  const abstract = `\0metier-test-${process.pid}`
  const unnamed = createSocketServer(() => seen.push('abstract')).listen(abstract)
  t.after(() => unnamed.close())
  const { run } = await boxed(t)
  const said = (await run(
    attempts({
      loopback: `return reach({ host: '127.0.0.1', port: ${port} })`,
      'loopback six': `return reach({ host: '::1', port: ${port} })`,
      elsewhere: `return reach({ host: '1.1.1.1', port: 443 })`,
      'a name': `return reach({ host: 'example.org', port: 443 })`,
      'an address of a cloud': `return reach({ host: '169.254.169.254', port: 80 })`,
      proxy: `return reach({ host: '127.0.0.1', port: 3128 })`,
      'a socket without a file': `return reach({ path: ${JSON.stringify(abstract)} })`,
      raw: `execFileSync('python3', ['-c', 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'], quietly); return 'OPENED'`,
    }),
  )) as Record<string, string>
  for (const [name, outcome] of Object.entries(said)) assert.doesNotMatch(String(outcome), /CONNECTED|OPENED/, name)
  assert.deepEqual(seen, [])
})

test('a boxed server reaches the hosts that are named, by the proxy alone, and a refusal is told in words', {
  skip,
}, async (t) => {
  const open = await listen(t)
  const closed = await listen(t)
  const { run } = await boxed(t, { hosts: [`127.0.0.1:${open.port}`] })
  const ask = (port: number) => `
    const response = await fetch('http://127.0.0.1:${port}/asked')
    if (!response.ok) throw new Error(response.status + ' ' + (await response.text()).trim())
    return await response.text()`
  assert.equal(await run(ask(open.port)), 'reached')
  const refused = String(await run(ask(closed.port)))
  const name = `127.0.0.1:${closed.port}`
  assert.match(refused, new RegExp(`its box refused the connection to ${name}; the server runs in a box`))
  const said = (await run(
    attempts({ direct: `return reach({ host: '127.0.0.1', port: ${open.port} })` }),
  )) as JsonObject
  assert.equal(said.direct, 'ECONNREFUSED')
  assert.deepEqual([open.seen, closed.seen], [['/asked'], []])
})

test('a file that the box does not show is told to the model as that', { skip }, async (t) => {
  const { other, written, run } = await boxed(t)
  const said = String(
    await run(`return (await load('node:fs')).readFileSync(${JSON.stringify(join(other, 'file.txt'))})`),
  )
  assert.match(
    said,
    /ENOENT.*\[the server runs in a box \(os\): reads .*; writes .*; reaches nothing; only its configuration/,
  )
  assert(said.includes(written))
})

/** Processes whose environment bears the mark. */
function marked(mark: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)
    } catch {
      return false
    }
  })
}

test('nothing is left of a boxed server when it is closed, nor of what it started', { skip }, async (t) => {
  const mark = `left-${process.pid}-${Date.now()}`
  const { space, run } = await boxed(t, { hosts: ['example.org'] }, { MARK: mark })
  await run(`(await load('node:child_process')).spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref()`)
  assert(marked(mark).length >= 3, 'the bridge, the server and what it started')
  await space.opened[0]!.close()
  assert.deepEqual(marked(mark), [])
  assert.deepEqual(readdirSync(join(space.home, 'sandbox', 'servers-outbound')), [])
})

test('kill -9 of the gateway leaves nothing of a boxed server', { skip }, async (t) => {
  const mark = `killed-${process.pid}-${Date.now()}`
  const { space } = await boxed(t, { hosts: ['example.org'] }, { MARK: mark })
  const { url, stop } = await serve(t, space)
  for (let round = 0; round < 100 && marked(mark).length < 2; round++) {
    await fetch(`${url}/api/tools`)
    await pause(50)
  }
  assert(marked(mark).length >= 2, 'the bridge and the server')
  await stop('SIGKILL')
  for (let round = 0; round < 200 && marked(mark).length > 0; round++) await pause(50)
  assert.deepEqual(marked(mark), [])
})

test('servers, tools and doctor say which box each server has', {
  skip,
}, async (t) => {
  const { space, written } = await boxed(t)
  await space.opened[0]!.close()
  const { mcpServers, ...rest } = JSON.parse(readFileSync(space.file, 'utf8'))
  const { sandbox: _, ...free } = mcpServers.evil
  writeFileSync(space.file, JSON.stringify({ mcpServers: { ...mcpServers, free }, ...rest }))
  const listed = await metier(space, ['servers', '--json'])
  assert.equal(listed.code, 0, listed.stdout)
  const [evil, other] = listed.json as { sandbox: JsonObject | null }[]
  assert.deepEqual([evil!.sandbox?.write, other!.sandbox], [[written], null])
  const table = await metier(space, ['servers'])
  assert.match(table.stdout, /evil .*box \(os\): reads .*\n.*free .*unconfined/)
  assert.match((await metier(space, ['tools'])).stderr, /in a box: evil; unconfined: free/)
  const { checks } = (await metier(space, ['doctor', '--json'])).json as { checks: { name: string; detail: string }[] }
  assert.match(checks.find(({ name }) => name === 'server evil')!.detail, /1 tools; box \(os\)/)
  assert.match(checks.find(({ name }) => name === 'server free')!.detail, /1 tools; unconfined/)
})

test('a folder that is not there, or a word that means nothing, is refused instead of being left out', {
  skip,
}, async (t) => {
  const { space } = await boxed(t)
  const config = JSON.parse(readFileSync(space.file, 'utf8'))
  config.mcpServers.evil.sandbox.folders.push('/no/such/folder')
  writeFileSync(space.file, JSON.stringify(config))
  const gone = await metier(space, ['tools', 'evil'])
  assert.match(gone.stderr, /there is no "\/no\/such\/folder", which its "sandbox" names/)
  assert.notEqual(gone.code, 0)
  config.mcpServers.evil.sandbox = { fodlers: [], tier: 'os' }
  writeFileSync(space.file, JSON.stringify(config))
  const wrong = await metier(space, ['tools', 'evil'])
  assert.deepEqual([wrong.code, existsSync(space.file)], [3, true])
  assert.match(wrong.stderr, /fodlers.*did you mean "folders"/)
})
