/**
 * The gateway with tokens of an issuer: who is let in, what the others are told, and that no token
 * goes any further.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { serveHttp } from '#gateway'
import { openSpace, root, workspace } from '#test'
import { initialize, newKey, openIssuer, post, send, signed, standIn } from '#test/gateway'

const key = newKey('a')

async function open(t: TestContext, { scope = '', ...more }: { scope?: string; audience?: string; url?: string } = {}) {
  const issuer = await openIssuer(t, [key])
  const verbs = standIn()
  const log: string[] = []
  const options = { verbs, host: '127.0.0.1', port: 0, version: '1', log: (line: string) => log.push(line) }
  const gateway = await serveHttp({ ...options, auth: 'oauth', issuer: issuer.url, scope, ...more })
  t.after(() => gateway.close())
  const token = (claims = {}) => signed(key, issuer.claims(`${gateway.url}/mcp`, claims))
  return { issuer, gateway, verbs, log, token }
}

const bearing = (token: string) => ({ authorization: `Bearer ${token}` })

test('serveHttp() with oauth tells whoever comes without a token where to get one', async (t) => {
  const { gateway, issuer } = await open(t, { scope: 'metier' })
  const metadata = `${gateway.url}/.well-known/oauth-protected-resource`
  for (const path of ['/mcp', '/', '/api/runs', '/metrics', '/nothing']) {
    const { status, headers } = await send(`${gateway.url}${path}`)
    assert.deepEqual(
      [status, headers['www-authenticate']],
      [401, `Bearer resource_metadata="${metadata}/mcp", scope="metier"`],
      path,
    )
  }
  for (const address of [metadata, `${metadata}/mcp`]) {
    const {
      resource,
      authorization_servers: servers,
      scopes_supported: scopes,
    } = JSON.parse((await send(address)).text)
    assert.deepEqual([resource, servers, scopes], [`${gateway.url}/mcp`, [issuer.url], ['metier']])
  }
  assert.equal((await send(`${gateway.url}/healthz`)).status, 200)
  assert.equal((await send(metadata, { headers: { host: 'evil.example' } })).status, 403)
})

test('serveHttp() with oauth takes a token that is for it, and says what is wrong with another', async (t) => {
  const { gateway, token, issuer, log } = await open(t, { scope: 'metier' })
  const ask = (given: string) => send(`${gateway.url}/api/runs`, { headers: bearing(given) })
  const good = token({ scope: 'metier other' })
  assert.equal((await ask(good)).status, 200)
  const weak = await ask(token({ scope: 'other' }))
  assert.deepEqual(
    [weak.status, /error="insufficient_scope".*scope="metier"/.test(String(weak.headers['www-authenticate']))],
    [403, true],
  )
  const foreign = signed(key, issuer.claims('https://another.example/mcp'))
  for (const bad of [
    token({ exp: 1 }),
    foreign,
    signed(newKey('a'), issuer.claims(`${gateway.url}/mcp`)),
    'x',
    `${good}x`,
  ]) {
    const { status, headers, text } = await ask(bad)
    assert.equal(status, 401)
    assert.match(
      String(headers['www-authenticate']),
      /^Bearer error="invalid_token", error_description="[ -~]+", resource_metadata=/,
    )
    assert(!text.includes(bad) || bad === 'x')
  }
  assert(!log.join('\n').includes(good))
  const client = new Client({ name: 'host', version: '1' })
  const requestInit = { headers: bearing(good) }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit }))
  assert.equal((await client.listTools()).tools.length, 3)
  await client.close()
})

test('serveHttp() with oauth takes the audience that the configuration names, and no other', async (t) => {
  const { gateway, token, issuer } = await open(t, { audience: 'api://metier' })
  assert.equal((await send(`${gateway.url}/api/runs`, { headers: bearing(token()) })).status, 401)
  const named = signed(key, issuer.claims('api://metier'))
  assert.equal((await send(`${gateway.url}/api/runs`, { headers: bearing(named) })).status, 200)
})

test('serveHttp() answers 503 while the keys of the issuer cannot be read', async (t) => {
  const { gateway, token, issuer } = await open(t)
  issuer.down = true
  assert.equal((await send(`${gateway.url}/api/runs`, { headers: bearing(token()) })).status, 503)
})

test('a session belongs to who opened it', async (t) => {
  const { gateway, token } = await open(t)
  const [ada, eve] = [token(), token({ sub: 'eve' })]
  const { session } = await post(gateway.url, initialize, undefined, bearing(ada))
  const list = { id: 2, method: 'tools/list', params: {} }
  assert.equal((await post(gateway.url, list, session!, bearing(ada))).status, 200)
  assert.equal((await post(gateway.url, list, session!, bearing(eve))).status, 404)
})

test('serveHttp() opens beyond loopback with authentication and a name only, and knows that name', async (t) => {
  const options = { verbs: standIn(), host: '0.0.0.0', port: 0, version: '1', log: () => {} }
  const url = 'https://metier.example'
  const wrong = [
    {},
    { url },
    { auth: 'oauth' as const, issuer: 'https://a.example' },
    { auth: 'oauth' as const, issuer: 'https://a.example', url: 'http://metier.example' },
  ]
  for (const more of wrong)
    await assert.rejects(serveHttp({ ...options, ...more }), { code: 'CONFIG_INVALID', message: /^Cannot listen on/ })
  const issuer = await openIssuer(t, [key])
  const gateway = await serveHttp({ ...options, auth: 'oauth', issuer: issuer.url, url })
  t.after(() => gateway.close())
  const here = gateway.url.replace('0.0.0.0', '127.0.0.1')
  const ask = (headers: Record<string, string>) => send(`${here}/api/runs`, { headers })
  const token = signed(key, issuer.claims(`${url}/mcp`))
  assert.equal((await ask({ ...bearing(token), host: 'metier.example' })).status, 200)
  assert.equal((await ask({ ...bearing(token), host: 'metier.example', origin: url })).status, 200)
  assert.equal((await ask({ ...bearing(token), host: 'metier.example', origin: 'https://evil.example' })).status, 403)
  assert.equal((await ask({ ...bearing(token), host: 'evil.example' })).status, 403)
  const { headers } = await ask({ host: 'metier.example' })
  assert.match(String(headers['www-authenticate']), /resource_metadata="https:\/\/metier.example\/.well-known/)
})

test('no token is passed upstream, and the record says who asked', async (t) => {
  const seen: string[] = []
  const upstream = createServer((request, response) => {
    seen.push(JSON.stringify(request.headers))
    response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => upstream.once('listening', resolve))
  t.after(() => upstream.close())
  const web = { type: 'http', url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp` }
  const fx = { command: process.execPath, args: [join(root, 'test', 'servers', 'effects.ts')], env: {} }
  const space = workspace(t, { config: { mcpServers: { web, fx } } })
  const verbs = await openSpace(space)
  const issuer = await openIssuer(t, [key])
  const gateway = await serveHttp({
    verbs,
    host: '127.0.0.1',
    port: 0,
    version: '1',
    log: () => {},
    auth: 'oauth',
    issuer: issuer.url,
  })
  t.after(() => gateway.close())
  const token = signed(key, issuer.claims(`${gateway.url}/mcp`))
  const client = new Client({ name: 'host', version: '1' })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers: bearing(token) } }),
  )
  const code = "return await tool('web:anything', {}).catch((error) => String(error))"
  const { structuredContent } = await client.callTool({
    name: 'execute',
    arguments: { implementation: { type: 'code', code } },
  })
  await client.close()
  const { status, run } = structuredContent as { status: string; run: string }
  assert.equal(status, 'done')
  assert(seen.length > 0)
  assert(!seen.join('\n').includes(token) && !seen.join('\n').includes('authorization'))
  const started = verbs.eventsOf(run as never)[0]!
  assert.equal((started.body as { actor: { name: string } }).actor.name, 'ada (host)')
  assert(!JSON.stringify(verbs.eventsOf(run as never)).includes(token))
  assert.equal((await verbs.runs({ limit: 1 }))[0]!.run, run)
})

test('the key of one subject never answers another over MCP, and a tool-use id no other', async (t) => {
  const verbs = await openSpace(workspace(t))
  const issuer = await openIssuer(t, [key])
  const options = { verbs, host: '127.0.0.1', port: 0, version: '1', log: () => {} }
  const gateway = await serveHttp({ ...options, auth: 'oauth', issuer: issuer.url })
  t.after(() => gateway.close())
  const runOf = async (sub: string, more: object, _meta = {}) => {
    const client = new Client({ name: 'host', version: '1' })
    const headers = bearing(signed(key, issuer.claims(`${gateway.url}/mcp`, { sub })))
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers } }))
    const input = { implementation: { type: 'code', code: 'return args.n ?? 1' }, ...more }
    const { structuredContent } = await client.callTool({ name: 'execute', arguments: input, _meta })
    await client.close()
    return structuredContent as { run?: string; error?: { code: string; context: { run?: string } } }
  }
  const [ada, eve] = [await runOf('ada', { key: 'K' }), await runOf('eve', { key: 'K' })]
  assert.notEqual(ada.run, eve.run)
  assert.equal((await runOf('ada', { key: 'K' })).run, ada.run)
  const { error } = await runOf('eve', { key: 'K', args: { n: 2 } })
  assert.deepEqual([error?.code, error?.context.run], ['INVALID_INPUT_PARAM', eve.run])
  const used = { 'claudecode/toolUseId': 'toolu_1' }
  const first = await runOf('ada', {}, used)
  assert.equal((await runOf('ada', {}, used)).run, first.run)
  assert.notEqual((await runOf('eve', {}, used)).run, first.run)
  assert.notEqual(
    (await runOf('ada', { args: { n: 2 } }, used)).run,
    first.run,
    'an id that is given again to another request',
  )
})
