/**
 * The ways to a token: a person's yes in a browser, our own credentials, or the refresh token of an
 * earlier yes.
 */
import { createPrivateKey, randomBytes } from 'node:crypto'
import {
  auth,
  createPrivateKeyJwtAuth,
  type FetchLike,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  OAuthError,
  parseErrorResponse,
  refreshAuthorization,
  type StoredOAuthClientInformation,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client'
import { AppError, type OauthConfig } from '#model'
import { type Grant, type Tokens, tokensOf } from './grant.ts'

/**
 * Shows a person the address, and answers with what the authorization server sent back to
 * `redirectUrl`.
 */
export type Authorize = { redirectUrl: string; ask(url: URL): Promise<URLSearchParams> }

type Asking = {
  url: string
  config: OauthConfig
  fetch: FetchLike
  /** Null where no person can be asked. */
  authorize: Authorize | null
  /** What the server said when it refused us. */
  scope?: string
  resourceMetadataUrl?: URL
  before: Grant | null
}

type Draft = { client?: StoredOAuthClientInformation; discovery?: OAuthDiscoveryState; tokens?: Tokens }

/** A new grant, from the start. */
export async function ask(asking: Asking): Promise<Grant> {
  const { url, authorize, fetch, scope, resourceMetadataUrl } = asking
  const draft: Draft = {}
  const sent: { url?: URL } = {}
  const provider = providerOf(asking, draft, (to) => {
    sent.url = to
  })
  const options = { serverUrl: url, fetchFn: plainlyRefused(fetch), forceReauthorization: true }
  const challenge = {
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  }
  await auth(provider, { ...options, ...challenge })
  if (sent.url !== undefined && authorize !== null) {
    const answer = await authorize.ask(sent.url)
    await auth(provider, { ...options, ...answerOf(answer, sent.url, draft.discovery!) })
  }
  const { client, discovery, tokens } = draft
  if (tokens === undefined) throw new Error('the authorization server gave no token')
  return { url, client: client ?? clientOf(asking, discovery)!, discovery: discovery!, tokens }
}

/**
 * Its state shows that it answers our question, its issuer that it comes from whom we asked; then
 * it may be believed.
 */
function answerOf(answer: URLSearchParams, asked: URL, { authorizationServerMetadata: metadata }: OAuthDiscoveryState) {
  if (answer.get('state') !== asked.searchParams.get('state')) throw new Error('the answer belongs to another login')
  const iss = answer.get('iss') ?? undefined
  validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata?.issuer,
    issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
  })
  const authorizationCode = answer.get('code')
  if (authorizationCode === null) throw new Error(answer.get('error') ?? 'the answer has neither a code nor an error')
  return { authorizationCode, ...(iss === undefined ? {} : { iss }) }
}

/** What the library asks of us, on a draft: nothing is kept before all of it is there. */
function providerOf(asking: Asking, draft: Draft, redirect: (url: URL) => void): OAuthClientProvider {
  const { config, authorize } = asking
  const { privateKey, clientId = '', clientMetadataUrl, scope } = config
  const interactive = config.grant === 'authorization_code'
  let verifier = ''
  const provider: OAuthClientProvider = {
    redirectUrl: interactive ? authorize?.redirectUrl : undefined,
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    clientMetadata: {
      client_name: 'Métier',
      redirect_uris: interactive && authorize !== null ? [authorize.redirectUrl] : [],
      grant_types: interactive ? ['authorization_code', 'refresh_token'] : ['client_credentials'],
      ...(interactive ? { response_types: ['code'] } : {}),
      token_endpoint_auth_method: config.clientSecret === undefined ? 'none' : 'client_secret_basic',
      ...(scope === undefined ? {} : { scope }),
    },
    state: () => randomBytes(32).toString('base64url'),
    clientInformation: () => draft.client ?? clientOf(asking, draft.discovery),
    tokens: () => undefined,
    saveTokens(tokens) {
      draft.tokens = tokensOf(tokens, Date.now())
    },
    redirectToAuthorization: redirect,
    saveCodeVerifier(given) {
      verifier = given
    },
    codeVerifier: () => verifier,
    discoveryState: () => draft.discovery,
    saveDiscoveryState(discovery) {
      checkIssuer(config, discovery)
      draft.discovery = discovery
    },
  }
  if (!interactive) provider.prepareTokenRequest = (asked) => credentialsRequest(asked)
  if (privateKey !== undefined) provider.addClientAuthentication = signedBy(clientId, privateKey)
  // What the configuration names is never replaced by a client that registers itself.
  if (config.clientId === undefined) {
    provider.saveClientInformation = (client) => {
      draft.client = client
    }
  }
  return provider
}

function credentialsRequest(scope: string | undefined): URLSearchParams {
  return new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) })
}

/**
 * The client of the configuration, bound to who was its authorization server first; without one we
 * register again at every login.
 */
function clientOf({ config, before }: Asking, discovery: OAuthDiscoveryState | undefined) {
  const { clientId, clientSecret } = config
  if (clientId === undefined) return undefined
  const issuer = config.issuer ?? before?.client.issuer ?? discovery?.authorizationServerMetadata?.issuer
  return {
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    ...(issuer === undefined ? {} : { issuer }),
  }
}

/**
 * What an authorization server refuses is over: the library would try again with the same, and
 * print what it was told.
 */
function plainlyRefused(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    if (init?.method !== 'POST' || response.ok) return response
    const { code, message } = await parseErrorResponse(response)
    throw new Error(
      `the authorization server says ${code === 'server_error' ? response.status : `${code}: ${message}`}`,
    )
  }
}

/**
 * A server may name whom it likes as its authorization server; our credentials go only to the one
 * that the configuration names.
 */
function checkIssuer(
  { issuer }: OauthConfig,
  { authorizationServerMetadata, authorizationServerUrl }: OAuthDiscoveryState,
) {
  const named = authorizationServerMetadata?.issuer ?? authorizationServerUrl
  if (issuer === undefined || issuer === named) return
  const message = `Cannot log in: the server names the authorization server ${named}, and the configuration ${issuer}`
  throw new AppError('PERMISSION_DENIED', message, { named, issuer })
}

/** With a key in place of a secret. */
export function signedBy(clientId: string, privateKey: string) {
  const alg = createPrivateKey(privateKey).asymmetricKeyType === 'ec' ? 'ES256' : 'RS256'
  return createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, privateKey, alg })
}

/** The same grant with new tokens; its refresh token goes only to the server that issued it. */
export async function refresh(
  grant: Grant & { tokens: Tokens },
  config: OauthConfig,
  fetch: FetchLike,
): Promise<Grant> {
  const { client, discovery, tokens } = grant
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = discovery
  const given = await refreshAuthorization(authorizationServerUrl, {
    ...(metadata === undefined ? {} : { metadata }),
    clientInformation: client,
    refreshToken: tokens.refresh!,
    ...(resourceMetadata === undefined ? {} : { resource: resourceMetadata.resource }),
    ...(config.privateKey === undefined
      ? {}
      : { addClientAuthentication: signedBy(client.client_id, config.privateKey) }),
    fetchFn: fetch,
  })
  return { ...grant, tokens: tokensOf(given, Date.now(), tokens) }
}

/**
 * Whether the authorization server itself says that a grant is over, so that only a new login
 * helps.
 */
export function isRefused(error: unknown): boolean {
  return error instanceof OAuthError && ['invalid_grant', 'invalid_client', 'unauthorized_client'].includes(error.code)
}
