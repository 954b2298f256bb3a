/**
 * Who may send requests: any client, one with the home's token, or one with a token that an issuer
 * signed for this gateway.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { AuthInfo } from '@modelcontextprotocol/server'
import { AppError, type Config } from '#model'
import { hasBearerToken, readToken, tokenMissing } from './bearer.ts'
import { openJwks } from './jwks.ts'
import { TokenError, verifyToken } from './jwt.ts'

/** A request, once it is known who sends it. */
export type AuthenticatedRequest = IncomingMessage & { auth?: AuthInfo }

type AuthenticationVerdict =
  /** Null where one is as good as another. */
  { ok: true; subject: string | null } | { ok: false; status: 401 | 403; error: AppError; challenge: string }

export type Authentication = {
  judge(headers: IncomingHttpHeaders): Promise<AuthenticationVerdict>
  /**
   * What a client reads to learn where to get a token (RFC 9728); null where there is nothing to
   * learn.
   */
  metadata: Record<string, unknown> | null
}

export const metadataPath = '/.well-known/oauth-protected-resource'

type Options = Pick<Config, 'home'> & { http: Omit<Config['http'], 'host' | 'port'> }

/** `url` is where the gateway is, as its clients see it. */
export function openAuthentication({ http, home }: Options, url: string, log: (line: string) => void): Authentication {
  switch (http.auth) {
    case 'none':
      return { judge: async () => ({ ok: true, subject: null }), metadata: null }
    case 'token':
      return tokenAuthentication(readToken(home))
    case 'oauth':
      return oauthAuthentication(http, url, log)
  }
}

function tokenAuthentication(token: string): Authentication {
  return {
    metadata: null,
    async judge(headers) {
      if (hasBearerToken(headers, token)) return { ok: true, subject: null }
      return { ok: false, status: 401, error: tokenMissing(), challenge: 'Bearer' }
    },
  }
}

function oauthAuthentication(
  { issuer, audience, scope }: Options['http'],
  url: string,
  log: (line: string) => void,
): Authentication {
  if (issuer === null) {
    const message = 'Cannot open the gateway with "auth": "oauth": name the authorization server as "issuer" beside it'
    throw new AppError('CONFIG_INVALID', message, { auth: 'oauth' })
  }
  const resource = `${url}/mcp`
  const wanted = scope.split(' ').filter(Boolean)
  const challengeParams = [
    `resource_metadata="${url}${metadataPath}/mcp"`,
    ...(wanted.length === 0 ? [] : [`scope="${wanted.join(' ')}"`]),
  ]
  const refuse = (status: 401 | 403, error: string | null, why: string): AuthenticationVerdict => {
    const fault = error === null ? [] : [`error="${error}"`, `error_description="${why}"`]
    const refused = new AppError(
      'PERMISSION_DENIED',
      `Cannot answer: ${error === null ? '' : 'of the bearer token '}${why}`,
      { issuer },
    )
    return { ok: false, status, error: refused, challenge: `Bearer ${[...fault, ...challengeParams].join(', ')}` }
  }
  const jwks = openJwks(issuer, { log })
  return {
    metadata: {
      resource,
      authorization_servers: [issuer],
      bearer_methods_supported: ['header'],
      resource_name: 'Métier',
      ...(wanted.length === 0 ? {} : { scopes_supported: wanted }),
    },
    async judge({ authorization = '' }) {
      const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
      if (token === undefined) return refuse(401, null, `a bearer token of ${issuer} is needed`)
      try {
        const expected = { issuer, audience: audience ?? resource, now: Date.now() }
        const { subject, scopes } = await verifyToken(token, jwks.keysFor, expected)
        if (wanted.every((each) => scopes.has(each))) return { ok: true, subject }
        return refuse(403, 'insufficient_scope', `it does not allow ${wanted.join(' ')}`)
      } catch (error) {
        if (error instanceof TokenError) return refuse(401, 'invalid_token', error.message)
        throw error
      }
    },
  }
}
