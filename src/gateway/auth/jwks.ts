/**
 * The keys of an issuer: found by its metadata, kept for a while, and asked for again when it
 * rotates them, but never as often as a stranger likes.
 */
import type { JsonWebKey } from 'node:crypto'
import { AppError, isObject, limits } from '#model'
import { issuerFetch } from '#verbs'

type IssuerFetch = Awaited<ReturnType<typeof issuerFetch>>

type Jwks = { keysFor(kid: string | undefined): Promise<readonly JsonWebKey[]> }

export function openJwks(issuer: string, { now = Date.now, log = (_line: string) => {} } = {}): Jwks {
  let keys: readonly JsonWebKey[] | null = null
  /** When we last asked, and when we last got an answer. */
  let attemptedAt = Number.NEGATIVE_INFINITY
  let fetchedAt = Number.NEGATIVE_INFINITY
  let refreshing: Promise<void> | null = null

  const fetchKeys = async () => {
    attemptedAt = now()
    try {
      keys = await readKeys(await issuerFetch(issuer), issuer)
      fetchedAt = now()
    } catch (error) {
      log(`oauth: cannot read the keys of ${issuer}: ${(error as Error).message}`)
    }
  }
  const refresh = async () => {
    if (refreshing === null && now() - attemptedAt < limits.jwksCoolDownMs) return
    refreshing ??= fetchKeys().finally(() => {
      refreshing = null
    })
    await refreshing
  }
  const find = (kid: string | undefined) => (keys ?? []).filter((key) => kid === undefined || key.kid === kid)

  return {
    async keysFor(kid) {
      if (now() - fetchedAt > limits.jwksMsMax || find(kid).length === 0) await refresh()
      // An issuer that is away for long may have withdrawn a key meanwhile.
      if (now() - fetchedAt > limits.jwksStaleMsMax) throw unreachable(issuer)
      return find(kid)
    },
  }
}

async function readKeys(fetch: IssuerFetch, issuer: string): Promise<JsonWebKey[]> {
  const { jwks_uri: address } = await readMetadata(fetch, issuer)
  if (typeof address !== 'string') throw new Error('its metadata names no jwks_uri')
  const { keys } = await readJson(await fetch(address))
  if (!Array.isArray(keys)) throw new Error('it has no list of keys')
  return keys.filter(isObject).slice(0, limits.jwksKeysMax) as JsonWebKey[]
}

/** As RFC 8414 has it, else as OpenID Connect; the metadata must name the issuer that was asked. */
async function readMetadata(fetch: IssuerFetch, issuer: string): Promise<Record<string, unknown>> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const addresses = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}${path}/.well-known/openid-configuration`,
  ]
  for (const address of addresses) {
    const response = await fetch(address)
    if (!response.ok) continue
    const metadata = await readJson(response)
    if (metadata.issuer !== issuer) throw new Error(`${address} belongs to another issuer`)
    return metadata
  }
  throw new Error('it publishes no metadata')
}

async function readJson(response: Response): Promise<Record<string, unknown>> {
  const value: unknown = response.ok ? await response.json() : null
  if (isObject(value)) return value
  throw new Error(`it answers with ${response.status}`)
}

function unreachable(issuer: string): AppError {
  return new AppError(
    'UPSTREAM_UNREACHABLE',
    `Cannot judge a token: the keys of ${issuer} cannot be read. Try again later`,
    { issuer },
  )
}
