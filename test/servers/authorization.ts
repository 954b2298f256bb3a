/**
 * A real authorization server and a server that it protects, on loopback: it rotates refresh
 * tokens, and takes one used twice for a stolen one.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod/v4'

export type Behaviour = {
  /** Of an access token. */
  seconds: number
  /** Before an answer to a refresh. */
  refreshMs: number
  /** What the protected server asks for. */
  scope: string
  /** Who the authorization server says it is; itself, unless it lies. */
  issuer: string | null
  /** Which resource the protected server says it is; itself, unless it lies. */
  resource: string | null
  /** What the authorization response names as its issuer. */
  iss: string | null
  /** The protected server refuses every token. */
  refusesAll: boolean
  /** Refreshing answers with this status. */
  refreshStatus: number
  /** Tokens are taken back, and answered with this status; null where there is no such endpoint. */
  revokeStatus: number | null
  /** Where the token endpoint sends us instead of answering. */
  tokenRedirect: string | null
  /** Where the protected server sends us instead of answering. */
  redirect: string | null
}

type Issued = { client: string; scope: string; resource: string | null; until: number; family: string }
type Code = { client: string; challenge: string; redirect: string; scope: string; resource: string | null }
type Client = { redirects: string[]; secret: string | null }

export type Authorization = Awaited<ReturnType<typeof openAuthorization>>

const token = () => randomBytes(24).toString('base64url')

export async function openAuthorization(behaviour: Partial<Behaviour> = {}) {
  const does: Behaviour = {
    ...{ seconds: 3600, refreshMs: 0, scope: 'tools', issuer: null, resource: null, iss: null, refusesAll: false },
    ...{ refreshStatus: 200, revokeStatus: 200, tokenRedirect: null, redirect: null },
    ...behaviour,
  }
  const clients = new Map<string, Client>()
  const codes = new Map<string, Code>()
  const access = new Map<string, Issued>()
  const refresh = new Map<string, Issued & { used: boolean }>()
  const revoked = new Set<string>()
  const seen = {
    requests: [] as string[],
    bearers: [] as string[],
    refreshes: 0,
    reuses: 0,
    registrations: 0,
    bodies: [] as string[],
    revocations: [] as string[],
  }
  const server = createServer(
    (request, response) => void answer(request, response).catch(() => response.writeHead(500).end()),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = `${origin}/mcp`
  const mcp = toNodeHandler(createMcpHandler(protectedServer, { legacy: 'stateless' }))

  function give(family: string, client: string, scope: string, resource: string | null) {
    const issued = { client, scope, resource, until: Date.now() + does.seconds * 1000, family }
    const [accessToken, refreshToken] = [token(), token()]
    access.set(accessToken, issued)
    refresh.set(refreshToken, { ...issued, used: false })
    return {
      access_token: accessToken,
      refresh_token: refreshToken,
      token_type: 'Bearer',
      expires_in: does.seconds,
      scope,
    }
  }

  function metadata() {
    return {
      issuer: does.issuer ?? origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
      ...(does.revokeStatus === null ? {} : { revocation_endpoint: `${origin}/revoke` }),
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
    }
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const [client, redirect] = [query.get('client_id') ?? '', query.get('redirect_uri') ?? '']
    const known = clients.get(client)
    if (known === undefined || !known.redirects.includes(redirect) || query.get('code_challenge_method') !== 'S256')
      return void response.writeHead(400).end('bad client')
    const code = token()
    const scope = query.get('scope') ?? ''
    codes.set(code, {
      client,
      challenge: query.get('code_challenge')!,
      redirect,
      scope,
      resource: query.get('resource'),
    })
    const back = new URL(redirect)
    back.searchParams.set('code', code)
    back.searchParams.set('iss', does.iss ?? origin)
    back.searchParams.set('state', query.get('state') ?? '')
    response.writeHead(302, { location: back.href }).end()
  }

  async function exchange(body: URLSearchParams, client: string): Promise<object> {
    if (body.get('grant_type') === 'client_credentials') {
      const { refresh_token: _, ...alone } = give(token(), client, body.get('scope') ?? '', body.get('resource'))
      return alone
    }
    if (body.get('grant_type') === 'refresh_token') return renew(body, client)
    const code = codes.get(body.get('code') ?? '')
    codes.delete(body.get('code') ?? '')
    const digest = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url')
    if (
      code === undefined ||
      code.client !== client ||
      code.challenge !== digest ||
      code.redirect !== body.get('redirect_uri')
    )
      return { error: 'invalid_grant', error_description: 'no such code' }
    return give(token(), client, code.scope, body.get('resource'))
  }

  async function renew(body: URLSearchParams, client: string): Promise<object> {
    seen.refreshes++
    const old = refresh.get(body.get('refresh_token') ?? '')
    const stale = old?.used === true
    if (old !== undefined) old.used = true
    if (stale) {
      seen.reuses++
      revoked.add(old.family)
    }
    await new Promise((resolve) => setTimeout(resolve, does.refreshMs))
    if (old === undefined || stale || old.client !== client || revoked.has(old.family))
      return { error: 'invalid_grant', error_description: `refresh token ${body.get('refresh_token')} is not good` }
    for (const [name, issued] of access) if (issued.family === old.family) access.delete(name)
    return give(old.family, client, old.scope, old.resource)
  }

  /**
   * A refresh token takes its whole login with it, an access token only itself; what is not known
   * is revoked already.
   */
  function revoke(given: string, client: string): void {
    seen.revocations.push(given)
    const login = refresh.get(given)
    if (login?.client === client) revoked.add(login.family)
    if (access.get(given)?.client === client) access.delete(given)
  }

  function clientOf(request: IncomingMessage, body: URLSearchParams): string | null {
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    const [id, secret] =
      basic === undefined ? [body.get('client_id'), body.get('client_secret')] : atob(basic).split(':')
    const known = clients.get(id ?? '')
    return known !== undefined && known.secret === (secret ?? null) ? id! : null
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, origin)
    seen.requests.push(`${request.method} ${pathname}`)
    const say = (value: object, status = 200) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (pathname === '/.well-known/oauth-protected-resource/mcp')
      return say({ resource: does.resource ?? url, authorization_servers: [origin] })
    if (pathname === '/.well-known/oauth-authorization-server') return say(metadata())
    if (pathname === '/authorize') return authorize(searchParams, response)
    if (pathname === '/revoke') {
      const body = new URLSearchParams(Buffer.concat(await Array.fromAsync(request)).toString())
      const client = clientOf(request, body)
      if (client === null) return say({ error: 'invalid_client' }, 401)
      revoke(body.get('token') ?? '', client)
      return void response.writeHead(does.revokeStatus ?? 404).end()
    }
    if (pathname === '/register' || pathname === '/token') {
      const text = Buffer.concat(await Array.fromAsync(request)).toString()
      if (pathname === '/register') {
        const id = token()
        seen.registrations++
        clients.set(id, { redirects: JSON.parse(text).redirect_uris, secret: null })
        return say({ ...JSON.parse(text), client_id: id }, 201)
      }
      seen.bodies.push(text)
      if (does.tokenRedirect !== null) return void response.writeHead(307, { location: does.tokenRedirect }).end()
      const body = new URLSearchParams(text)
      if (body.get('grant_type') === 'refresh_token' && does.refreshStatus !== 200)
        return say({ error: 'temporarily_unavailable' }, does.refreshStatus)
      const client = clientOf(request, body)
      if (client === null) return say({ error: 'invalid_client' }, 401)
      const given = await exchange(body, client)
      return say(given, 'error' in given ? 400 : 200)
    }
    if (pathname !== '/mcp') return void response.writeHead(404).end()
    if (does.redirect !== null) return void response.writeHead(307, { location: does.redirect }).end()
    await guard(request, response)
  }

  async function guard(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    if (given !== undefined) seen.bearers.push(given)
    const issued = given === undefined ? undefined : access.get(given)
    const good = issued !== undefined && !does.refusesAll && !revoked.has(issued.family)
    const challenge = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="${does.scope}"`
    const refuse = (status: number, error: string) => {
      request.resume()
      response.writeHead(status, { 'www-authenticate': `Bearer ${error}${challenge}` }).end()
    }
    if (!good || issued.until < Date.now() || issued.resource !== url)
      return refuse(401, given === undefined ? '' : 'error="invalid_token", ')
    const missing = does.scope.split(' ').some((scope) => !issued.scope.split(' ').includes(scope))
    if (missing) return refuse(403, 'error="insufficient_scope", ')
    await mcp(request as Parameters<typeof mcp>[0], response)
  }

  return {
    ...{ origin, url, does, seen, clients, codes, access, refresh, revoked, give },
    addClient(id: string, secret: string | null, redirects: string[] = []) {
      clients.set(id, { redirects, secret })
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function protectedServer(): McpServer {
  const server = new McpServer({ name: 'protected', version: '1.0.0' })
  const annotations = { readOnlyHint: true }
  server.registerTool(
    'echo',
    { description: 'Says what it was told.', inputSchema: z.object({ word: z.string() }), annotations },
    async ({ word }) => ({
      content: [{ type: 'text', text: word }],
    }),
  )
  server.registerTool(
    'headers',
    { description: 'The headers of the request, as they came.', annotations },
    async (context) => {
      const headers = Object.fromEntries(context.http?.req?.headers ?? [])
      return { content: [{ type: 'text', text: JSON.stringify(headers) }], structuredContent: { headers } }
    },
  )
  return server
}
