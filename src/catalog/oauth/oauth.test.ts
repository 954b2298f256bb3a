/**
 * Tests of logins to servers, against a real authorization server that rotates its refresh tokens
 * and knows stolen ones.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { type Authorize, type Catalog, openCatalog } from '#catalog'
import { parseConfig, type Try } from '#model'
import { type Authorization, root, temporaryFolder } from '#test'
import { openGrantFile } from './grant.ts'

const { openAuthorization } = await import(pathToFileURL(join(root, 'test', 'servers', 'authorization.ts')).href)

async function openServer(t: TestContext, behaviour: object = {}): Promise<Authorization> {
  const server: Authorization = await openAuthorization(behaviour)
  t.after(() => server.close())
  return server
}

type Options = { home?: string; oauth?: object; type?: string; authorize?: Authorize; url?: string }

function open(
  t: TestContext,
  server: Authorization,
  { home = temporaryFolder(t), oauth = {}, type = 'http', authorize, url = server.url }: Options = {},
) {
  const text = JSON.stringify({ servers: { web: { type, url, oauth } } })
  const { servers } = parseConfig({ file: null, text, home, env: {}, directory: home })
  const log: string[] = []
  const catalog = openCatalog({
    ...{ servers, folder: join(home, 'catalog'), keys: join(home, 'keys'), baseEnv: {}, log: (line) => log.push(line) },
    ...(authorize === undefined ? {} : { authorize }),
  })
  t.after(() => catalog.close())
  return { catalog, home, log }
}

/** A person whose browser says yes at once. */
const person: Authorize = {
  redirectUrl: 'http://127.0.0.1:9/callback',
  async ask(url) {
    const { status, headers } = await fetch(url, { redirect: 'manual' })
    assert.equal(status, 302, 'the authorization server knows us')
    return new URL(headers.get('location')!).searchParams
  },
}

const signal = AbortSignal.timeout(60_000)
const login = (catalog: Catalog, scope?: string) =>
  catalog.login('web', { authorize: person, signal, ...(scope === undefined ? {} : { scope }) })

async function call(catalog: Catalog, name: string, args: object = {}): Promise<Try> {
  const tool = await catalog.tool(`web:${name}`)
  if (tool === undefined) throw catalog.problemOfServer('web:x')
  return catalog.try(tool, args as never, { signal, timeoutMs: 10_000 })
}

const brief = (outcome: Try) =>
  outcome.outcome === 'answered' && outcome.ok ? outcome.value : `${outcome.outcome} ${outcome.error.code}`
const echo = async (catalog: Catalog) => brief(await call(catalog, 'echo', { word: 'hi' }))

/** Every access token that is out now is over. */
function expire({ access }: Authorization): void {
  for (const issued of access.values()) issued.until = 0
}

test('a server that needs a login says so with the command to run, and gets nothing from us', async (t) => {
  const server = await openServer(t)
  for (const type of ['http', 'sse']) {
    const { catalog } = open(t, server, { type })
    const { problems } = await catalog.tools()
    assert.equal(problems[0]!.error.code, 'LOGIN_REQUIRED', type)
    assert.match(problems[0]!.error.message, /it needs a login. Log in with: metier servers login web --scope "tools"$/)
  }
  assert.deepEqual(server.seen.bearers, [])
})

test('what a server asks for never becomes a command', async (t) => {
  for (const scope of ['a$(touch x)', 'a`touch x`', "a';touch x;'"]) {
    const server = await openServer(t, { scope })
    const { error } = (await open(t, server).catalog.tools()).problems[0]!
    assert.equal(error.context.command, 'metier servers login web')
    assert(!error.message.includes('touch'))
  }
})

test('login() brings a token that only this home can read, and the server answers from then on', async (t) => {
  const server = await openServer(t)
  const { catalog, home, log } = open(t, server)
  await login(catalog)
  assert.equal(await echo(catalog), 'hi')
  const authorized = server.seen.bodies.at(-1)!
  assert.match(authorized, /resource=http/, 'the token is for this server and no other')
  const file = join(home, 'keys', 'oauth-web.sealed')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const secrets = [...server.access.keys(), ...server.refresh.keys()]
  for (const name of readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())) {
    const text = readFileSync(join(name.parentPath, name.name), 'latin1')
    for (const secret of secrets) assert(!text.includes(secret), name.name)
  }
  for (const secret of secrets) assert(!log.join('\n').includes(secret))
  const again = open(t, server, { home })
  assert.equal(await echo(again.catalog), 'hi', 'in another life of ours too')
  const elsewhere = open(t, server, { home, url: server.url.replace('127.0.0.1', 'localhost') })
  assert.equal(
    (await elsewhere.catalog.tools({ refresh: true })).problems[0]?.error.code,
    'LOGIN_REQUIRED',
    'a token is for one address',
  )
  assert.equal((await again.catalog.logout('web', signal)).had, true)
  assert.equal(await echo(catalog), 'not_sent LOGIN_REQUIRED', 'a logout holds for every process')
})

test('logout() gives the tokens back to who gave them, the one that renews first', async (t) => {
  const server = await openServer(t)
  const { catalog } = open(t, server)
  await login(catalog)
  await echo(catalog)
  const [refresh, access] = [[...server.refresh.keys()].at(-1), server.seen.bearers.at(-1)]
  assert.deepEqual(await catalog.logout('web', signal), { had: true, revoked: true })
  assert.deepEqual(server.seen.revocations, [refresh, access])
  const stolen = await fetch(server.url, { method: 'POST', headers: { authorization: `Bearer ${access}` } })
  assert.equal(stolen.status, 401, 'a copy of it is worth nothing')
  assert.deepEqual(await catalog.logout('web', signal), { had: false, revoked: false })
  assert.equal(server.seen.revocations.length, 2)
})

test('logout() forgets a login also where its issuer takes no tokens back, or cannot be told, and says which', async (t) => {
  const server = await openServer(t, { revokeStatus: null })
  const { catalog } = open(t, server)
  await login(catalog)
  assert.deepEqual(await catalog.logout('web', signal), { had: true, revoked: false })
  assert.deepEqual(server.seen.revocations, [])
  server.does.revokeStatus = 503
  await login(catalog)
  const why = 'the authorization server answers 503'
  assert.deepEqual(await catalog.logout('web', signal), { had: true, revoked: false, why })
  assert.equal((await catalog.tools()).problems[0]!.error.code, 'LOGIN_REQUIRED')
})

test('logout() waits for whoever renews, so that nothing brings the login back', async (t) => {
  const server = await openServer(t, { refreshMs: 300, revokeStatus: null })
  const { catalog, home } = open(t, server)
  await login(catalog)
  await catalog.tools()
  expire(server)
  const renewed = echo(catalog)
  while (server.seen.refreshes === 0) await pause(5)
  const other = open(t, server, { home })
  assert.deepEqual(await other.catalog.logout('web', signal), { had: true, revoked: false })
  await renewed
  assert.equal(await echo(other.catalog), 'not_sent LOGIN_REQUIRED')
})

test('logout() proves who we are with the credentials of the configuration', async (t) => {
  const server = await openServer(t)
  server.addClient('us', 'a-secret-of-ours')
  const oauth = { grant: 'client_credentials', clientId: 'us', clientSecret: 'a-secret-of-ours', issuer: server.origin }
  const { catalog } = open(t, server, { oauth })
  assert.equal(await echo(catalog), 'hi')
  assert.deepEqual(await catalog.logout('web', signal), { had: true, revoked: true })
  assert.deepEqual(server.seen.revocations, [server.seen.bearers.at(-1)])
})

test('a token that the server refuses is renewed once, and the call made', async (t) => {
  const server = await openServer(t)
  const { catalog } = open(t, server)
  await login(catalog)
  await catalog.tools()
  expire(server)
  assert.equal(await echo(catalog), 'hi')
  assert.deepEqual([server.seen.refreshes, server.seen.reuses], [1, 0])
})

/** As if the token had been given a while ago, and ended in so many seconds. */
function age(home: string, { url }: Authorization, seconds: number): void {
  const file = openGrantFile(join(home, 'keys'), 'web', url)
  const grant = file.read()!
  file.write({ ...grant, tokens: { ...grant.tokens!, from: Date.now() - 600_000, until: Date.now() + seconds * 1000 } })
}

test('a token is renewed before it ends', async (t) => {
  const server = await openServer(t)
  const { catalog, home } = open(t, server)
  await login(catalog)
  await catalog.tools()
  age(home, server, 30)
  const before = server.seen.requests.length
  assert.equal(await echo(catalog), 'hi')
  assert.equal(server.seen.requests[before], 'POST /token', 'before the server could refuse it')
})

test('many calls at once share one renewal', async (t) => {
  const server = await openServer(t, { refreshMs: 50 })
  const { catalog } = open(t, server)
  await login(catalog)
  await catalog.tools()
  expire(server)
  const said = await Promise.all(Array.from({ length: 12 }, () => echo(catalog)))
  assert.deepEqual([...new Set(said)], ['hi'])
  assert.deepEqual([server.seen.refreshes, server.seen.reuses], [1, 0])
})

/** Another process of the same home; it says "ready", and calls when it is told to. */
function otherProcess(t: TestContext, home: string, url: string): ChildProcess {
  const program = `
    const { openCatalog } = await import('#catalog')
    const { parseConfig } = await import('#model')
    const [home, url] = process.argv.slice(1)
    const text = JSON.stringify({ servers: { web: { url } } })
    const { servers } = parseConfig({ file: null, text, home, env: {}, directory: home })
    const catalog = openCatalog({ servers, folder: home + '/catalog-' + process.pid, keys: home + '/keys', baseEnv: {} })
    const tool = await catalog.tool('web:echo')
    process.send('ready')
    process.on('message', async () => {
      const options = { signal: AbortSignal.timeout(30000), timeoutMs: 20000 }
      const tries = await Promise.all([1, 2, 3].map(() => catalog.try(tool, { word: 'hi' }, options)))
      process.send(tries.map((outcome) => outcome.value ?? outcome.error.code))
    })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, home, url], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.after(() => child.kill('SIGKILL'))
  return child
}

test('processes of one home share one renewal: no refresh token is used twice', async (t) => {
  const server = await openServer(t, { refreshMs: 100 })
  const { catalog, home } = open(t, server)
  await login(catalog)
  await catalog.tools()
  const others = [1, 2, 3].map(() => otherProcess(t, home, server.url))
  for (const [ready] of await Promise.all(others.map((child) => once(child, 'message')))) assert.equal(ready, 'ready')
  for (let round = 1; round <= 3; round++) {
    expire(server)
    const answers = others.map((child) => once(child, 'message'))
    for (const child of others) child.send('call')
    assert.equal(await echo(catalog), 'hi')
    for (const [said] of await Promise.all(answers)) assert.deepEqual(said, ['hi', 'hi', 'hi'])
    assert.deepEqual([server.seen.refreshes, server.seen.reuses, server.revoked.size], [round, 0, 0])
  }
})

test('a login that has ended is said, not tried again, and its refresh token is forgotten', async (t) => {
  const server = await openServer(t)
  const { catalog } = open(t, server)
  await login(catalog)
  await catalog.tools()
  expire(server)
  for (const issued of server.refresh.values()) issued.used = true
  const outcome = await call(catalog, 'echo', { word: 'hi' })
  assert.equal(brief(outcome), 'not_sent LOGIN_REQUIRED')
  const said = String((outcome as { error: Error }).error)
  for (const secret of server.refresh.keys()) assert(!said.includes(secret), said)
  assert.equal(await echo(catalog), 'not_sent LOGIN_REQUIRED')
  assert.equal(server.seen.refreshes, 1)
  await login(catalog)
  assert.equal(await echo(catalog), 'hi')
})

test('an authorization server that is away is a reason to try later, and only when the token is over', async (t) => {
  const server = await openServer(t)
  const { catalog, home } = open(t, server)
  await login(catalog)
  await catalog.tools()
  server.does.refreshStatus = 503
  age(home, server, 30)
  assert.equal(await echo(catalog), 'hi', 'the old token is still good')
  age(home, server, -1)
  assert.equal(await echo(catalog), 'not_sent UPSTREAM_UNREACHABLE')
  server.does.refreshStatus = 200
  assert.equal(await echo(catalog), 'hi')
})

test('a server that refuses what it was given is not asked for ever', async (t) => {
  const server = await openServer(t)
  const { catalog } = open(t, server, { authorize: person })
  server.does.refusesAll = true
  assert.equal((await catalog.tools()).problems[0]!.error.code, 'LOGIN_REQUIRED')
  assert(server.seen.bearers.length <= 4)
})

test('login() refuses a server that claims to be another, an issuer that is another, and an answer of another', async (t) => {
  for (const lie of [
    { resource: 'https://bank.example/mcp' },
    { issuer: 'https://bank.example' },
    { iss: 'https://bank.example' },
  ]) {
    const server = await openServer(t, lie)
    const { catalog } = open(t, server)
    await assert.rejects(login(catalog), { code: 'LOGIN_REQUIRED' }, JSON.stringify(lie))
    assert.deepEqual(server.seen.bodies, [], 'no code and no token was sent')
  }
  const server = await openServer(t)
  const { catalog } = open(t, server, { oauth: { issuer: 'https://bank.example' } })
  await assert.rejects(login(catalog), { code: 'LOGIN_REQUIRED', message: /names the authorization server/ })
  assert.equal(server.seen.registrations, 0)
  const forged: Authorize = {
    ...person,
    ask: async (url) => new URLSearchParams({ ...Object.fromEntries(await person.ask(url)), state: 'x' }),
  }
  const other = open(t, server)
  await assert.rejects(other.catalog.login('web', { authorize: forged, signal }), {
    code: 'LOGIN_REQUIRED',
    message: /another login/,
  })
})

test('a token goes nowhere but to its server, wherever that sends us', async (t) => {
  const server = await openServer(t)
  const stolen: string[] = []
  const thief = createServer((request, response) => {
    let text = `${request.headers.authorization ?? ''} `
    request.on('data', (chunk) => (text += chunk)).on('end', () => stolen.push(text))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(thief, 'listening')
  t.after(() => thief.close())
  const elsewhere = `http://127.0.0.1:${(thief.address() as AddressInfo).port}/`
  const { catalog } = open(t, server)
  await login(catalog)
  await catalog.tools()
  server.does.redirect = elsewhere
  assert.notEqual(await echo(catalog), 'hi')
  server.does.redirect = null
  server.does.tokenRedirect = elsewhere
  expire(server)
  assert.equal(await echo(catalog), 'not_sent UPSTREAM_UNREACHABLE')
  assert.deepEqual(stolen, [])
})

test('a server that tells our token on is not believed', async (t) => {
  const server = await openServer(t)
  const { catalog } = open(t, server)
  await login(catalog)
  const said = JSON.stringify(await call(catalog, 'headers'))
  assert.match(said, /Bearer «secret»/)
  for (const secret of server.access.keys()) assert(!said.includes(secret))
})

test('with credentials of our own nobody is asked', async (t) => {
  const server = await openServer(t)
  server.addClient('us', 'a-secret-of-ours')
  const credentials = {
    grant: 'client_credentials',
    clientId: 'us',
    clientSecret: 'a-secret-of-ours',
    issuer: server.origin,
  }
  const { catalog } = open(t, server, { oauth: credentials })
  assert.equal(await echo(catalog), 'hi')
  expire(server)
  assert.equal(await echo(catalog), 'hi')
  assert.deepEqual([server.seen.bodies.length, server.seen.registrations], [2, 0])
  const wrong = open(t, server, { oauth: { ...credentials, clientSecret: 'another-secret' } })
  const { error } = (await wrong.catalog.tools()).problems[0]!
  assert.equal(error.code, 'LOGIN_REQUIRED')
  assert.match(error.message, /Check "oauth" of this server in the configuration$/)
})

test('a server that asks for more rights gets them from whoever may give them', async (t) => {
  const server = await openServer(t)
  const { catalog, home } = open(t, server)
  await login(catalog)
  await catalog.tools()
  server.does.scope = 'tools write'
  const outcome = await call(catalog, 'echo', { word: 'hi' })
  assert.equal(brief(outcome), 'not_sent LOGIN_REQUIRED')
  assert.match((outcome as { error: Error }).error.message, /does not allow this.*--scope "tools write"/)
  const headless = open(t, server, { home, authorize: person })
  assert.equal(await echo(headless.catalog), 'hi')
  assert.equal([...server.access.values()].at(-1)!.scope, 'tools write')
  assert.equal(await echo(catalog), 'hi', 'and every process has them')
})
