/**
 * What a login to a server brought: tokens, the client that we are there, and who gave them; sealed
 * in the home's keys.
 */
import type { OAuthDiscoveryState, OAuthTokens, StoredOAuthClientInformation } from '@modelcontextprotocol/client'
import { isObject, limits } from '#model'
import { openSealedFile, type SealedFile } from '#record'

export type Tokens = { access: string; refresh?: string; scope?: string; from: number; until: number | null }

export type Grant = {
  /** The address that it is for: under another one it counts for nothing. */
  url: string
  client: StoredOAuthClientInformation
  discovery: OAuthDiscoveryState
  /** Null where they were refused or given up. */
  tokens: Tokens | null
}

type GrantFile = Pick<SealedFile, 'locked'> & {
  /** As it is now, also where another process wrote it. */
  read(): Grant | null
  write(grant: Grant): void
  remove(): void
}

/** Read again only after it was written. */
export function openGrantFile(keys: string, server: string, url: string): GrantFile {
  const file = openSealedFile(keys, `oauth-${server}`)
  let known: { version: string; grant: Grant | null } | null = null
  return {
    read() {
      const version = file.version()
      if (known?.version !== version) known = { version, grant: parse(file.read(), url) }
      return known.grant
    },
    write: (grant) => file.write(JSON.stringify(grant)),
    remove: () => file.remove(),
    locked: file.locked,
  }
}

function parse(text: string | null, url: string): Grant | null {
  const value: unknown = text === null ? null : JSON.parse(text)
  return isObject(value) && value.url === url ? (value as Grant) : null
}

/** The new tokens; without a new refresh token the old one still holds. */
export function tokensOf(given: OAuthTokens, now: number, before: Tokens | null = null): Tokens {
  const { access_token: access, refresh_token: refresh = before?.refresh, scope = before?.scope, expires_in } = given
  return {
    access,
    ...(refresh === undefined ? {} : { refresh }),
    ...(scope === undefined ? {} : { scope }),
    from: now,
    until: expires_in === undefined ? null : now + expires_in * 1000,
  }
}

/**
 * Whether it is time for new ones; those without an end are good until the server says otherwise.
 */
export function expiresSoon({ from, until }: Tokens, now: number): boolean {
  return until !== null && now >= until - Math.min(limits.oauthRenewBeforeMs, (until - from) / 2)
}

export function isExpired({ until }: Tokens, now: number): boolean {
  return until !== null && now >= until
}

/** What must stand nowhere else. */
export function secretsIn(grant: Grant | null): string[] {
  const { tokens, client } = grant ?? {}
  return [tokens?.access, tokens?.refresh, client?.client_secret].filter((secret) => secret !== undefined)
}
