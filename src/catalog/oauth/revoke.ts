/**
 * Ends a login where it was given: the tokens are told back to the authorization server, so that a
 * copy of them is worth nothing.
 */
import { type FetchLike, selectClientAuthMethod } from '@modelcontextprotocol/client'
import type { OauthConfig } from '#model'
import { signedBy } from './flow.ts'
import type { Grant } from './grant.ts'

/**
 * RFC 7009: true where no token is good any more, false where the authorization server takes none
 * back; throws where it cannot be told.
 */
export async function revoke(grant: Grant, config: OauthConfig, fetch: FetchLike): Promise<boolean> {
  const { revocation_endpoint: endpoint } = (grant.discovery.authorizationServerMetadata ?? {}) as RevocationMetadata
  const { access, refresh } = grant.tokens ?? {}
  if (access === undefined) return true
  if (endpoint === undefined) return false
  // The refresh token first: should the second request fail, nothing can be renewed any more.
  if (refresh !== undefined)
    await tellBack(endpoint, { token: refresh, token_type_hint: 'refresh_token' }, grant, config, fetch)
  await tellBack(endpoint, { token: access, token_type_hint: 'access_token' }, grant, config, fetch)
  return true
}

type RevocationMetadata = { revocation_endpoint?: string; revocation_endpoint_auth_methods_supported?: string[] }

async function tellBack(
  endpoint: string,
  token: Record<string, string>,
  { client, discovery }: Grant,
  { privateKey }: OauthConfig,
  fetch: FetchLike,
): Promise<void> {
  const metadata = discovery.authorizationServerMetadata
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' })
  const body = new URLSearchParams(token)
  if (privateKey !== undefined) await signedBy(client.client_id, privateKey)(headers, body, endpoint, metadata)
  else prove(client, methodsOf(metadata), headers, body)
  const response = await fetch(endpoint, { method: 'POST', headers, body })
  await response.body?.cancel()
  // What the server never knew or has forgotten is revoked too, and answered with 200.
  if (!response.ok) throw new Error(`the authorization server answers ${response.status}`)
}

/**
 * Who we are, as the authorization server wants to hear it here, else as it does where tokens are
 * given.
 */
function prove(client: Grant['client'], methods: string[], headers: Headers, body: URLSearchParams): void {
  const { client_id: id, client_secret: secret = '' } = client
  const method = selectClientAuthMethod(client, methods)
  if (method === 'client_secret_basic') return headers.set('authorization', `Basic ${btoa(`${id}:${secret}`)}`)
  body.set('client_id', id)
  if (method === 'client_secret_post') body.set('client_secret', secret)
}

function methodsOf(metadata: Grant['discovery']['authorizationServerMetadata']): string[] {
  const { revocation_endpoint_auth_methods_supported: here } = (metadata ?? {}) as RevocationMetadata
  return here ?? metadata?.token_endpoint_auth_methods_supported ?? []
}
