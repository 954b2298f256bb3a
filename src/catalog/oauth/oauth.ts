/**
 * The right to use one server: its token goes with every request to it and nowhere else, and is
 * renewed once for all who wait.
 */
import { computeScopeUnion, extractWWWAuthenticateParams, type FetchLike } from '@modelcontextprotocol/client'
import { redact } from '#catalog/tool-server'
import { AppError, abortable, limits, type OauthConfig } from '#model'
import { authorizationFetch } from './authorization-fetch.ts'
import { type Authorize, ask, isRefused, refresh } from './flow.ts'
import { expiresSoon, type Grant, isExpired, openGrantFile, secretsIn, type Tokens } from './grant.ts'
import { revoke } from './revoke.ts'

export { authorizationFetch } from './authorization-fetch.ts'
export { openCallback } from './callback.ts'
export type { Authorize } from './flow.ts'

type OauthOptions = {
  server: string
  url: string
  config: OauthConfig
  /** The home's folder of keys. */
  keys: string
  /** Asked when a login is needed; without it that is an error that says so. */
  authorize?: Authorize
}

export type Login = { authorize: Authorize; scope?: string; signal: AbortSignal }

/**
 * `revoked` where the tokens are worth nothing any more; `why` where they should be and may not.
 */
export type Logout = { had: boolean; revoked: boolean; why?: string }

/** Why a server refused a request; null where it did not. */
type Challenge = { more: boolean; scope?: string; resourceMetadataUrl?: URL }

export class Oauth {
  readonly #options: OauthOptions
  readonly #file
  readonly #ask: FetchLike
  /** Those of the last grants: what was given to the server may come back late. */
  #secrets: string[] = []
  #renewing: Promise<Grant> | null = null

  constructor(options: OauthOptions) {
    this.#options = options
    this.#file = openGrantFile(options.keys, options.server, options.url)
    this.#ask = authorizationFetch(options.url)
  }

  /**
   * A request to the server, with its token where there is one; repeated when another token may
   * help, since a refusal did nothing.
   */
  readonly fetch: FetchLike = async (input, init = {}) => {
    const url = new URL(String(input))
    if (url.origin !== new URL(this.#options.url).origin) throw this.#error(`${url.origin} is not where it is`)
    const signal = init.signal ?? new AbortController().signal
    let grant = await this.#fresh(signal)
    for (let retries = 0; ; retries++) {
      const response = await fetch(url, { redirect: 'manual', ...init, headers: withToken(init.headers, grant) })
      const challenge = challengeOf(response)
      if (challenge === null) return response
      await response.body?.cancel()
      if (retries >= limits.oauthRetriesMax)
        throw this.#loginRequired('it refuses the token that was given for it', challenge)
      grant = await this.#renew(grant, challenge, retries, signal)
    }
  }

  /** A person logs in, whatever there was before. */
  async login({ authorize, scope, signal }: Login): Promise<void> {
    const probe = await fetch(this.#options.url, { method: 'POST', redirect: 'manual', signal })
    await probe.body?.cancel()
    const challenge = challengeOf(probe) ?? { more: false }
    const wanted = computeScopeUnion(scope, challenge.scope)
    const grant = await this.#new(
      authorize,
      { ...challenge, ...(wanted === undefined ? {} : { scope: wanted }) },
      this.#file.read(),
    )
    await this.#file.locked(signal, async () => this.#file.write(grant))
  }

  /**
   * Deleted here whatever the authorization server says; not during a renewal, which would write it
   * back.
   */
  async logout(signal: AbortSignal): Promise<Logout> {
    const grant = await this.#file.locked(signal, async () => {
      const known = this.#known(this.#file.read())
      this.#file.remove()
      return known
    })
    if (grant === null) return { had: false, revoked: false }
    try {
      return { had: true, revoked: await revoke(grant, this.#options.config, this.#ask) }
    } catch (error) {
      return { had: true, revoked: false, why: redact((error as Error).message, this.secrets()) }
    }
  }

  /** What the server got from us and must not tell on; the same list until a secret is new. */
  secrets(): string[] {
    return this.#secrets
  }

  async #fresh(signal: AbortSignal): Promise<Grant | null> {
    const grant = this.#known(this.#file.read())
    if (grant?.tokens == null || !expiresSoon(grant.tokens, Date.now())) return grant
    return this.#shared(grant, { more: false }, signal).catch((error) => {
      if (isExpired(grant.tokens!, Date.now())) throw error
      return grant
    })
  }

  /**
   * After a refusal: what another process got meanwhile, else what a refresh or a new question
   * gives.
   */
  async #renew(used: Grant | null, challenge: Challenge, retries: number, signal: AbortSignal): Promise<Grant> {
    const now = this.#known(this.#file.read())
    if (now?.tokens != null && now.tokens.access !== used?.tokens?.access) return now
    // A token that was refused when it was new is not helped by another of the same kind.
    const old = retries > 0 && now !== null ? { ...now, tokens: withoutRefresh(now.tokens) } : now
    return this.#shared(old, challenge, signal)
  }

  /**
   * One renewal at a time: here for all who wait, in other processes by a lock. A refresh token
   * used twice would be taken for a stolen one.
   */
  #shared(before: Grant | null, challenge: Challenge, signal: AbortSignal): Promise<Grant> {
    this.#renewing ??= this.#file
      .locked(AbortSignal.timeout(limits.oauthLoginMsMax), async () => {
        const now = this.#known(this.#file.read())
        if (now?.tokens != null && now.tokens.access !== before?.tokens?.access) return now
        const next = this.#known(await this.#next(before, challenge))
        this.#file.write(next!)
        return next!
      })
      .finally(() => {
        this.#renewing = null
      })
    return abortable(this.#renewing, signal)
  }

  async #next(before: Grant | null, challenge: Challenge): Promise<Grant> {
    const { authorize, config } = this.#options
    if (before?.tokens?.refresh !== undefined && !challenge.more) {
      try {
        return await refresh(before as Grant & { tokens: Tokens }, config, this.#ask)
      } catch (error) {
        if (!isRefused(error)) throw this.#error('its authorization server cannot be asked for a new token', error)
        this.#file.write({ ...before, tokens: null })
        if (authorize === undefined) throw this.#loginRequired('the login has ended', challenge, error)
      }
    }
    if (config.grant === 'client_credentials') return this.#new(null, challenge, before)
    if (authorize === undefined) throw this.#loginRequired(reasonFor(challenge, before), challenge)
    return this.#new(authorize, challenge, before)
  }

  async #new(authorize: Authorize | null, challenge: Challenge, before: Grant | null): Promise<Grant> {
    const { url, config } = this.#options
    const { resourceMetadataUrl } = challenge
    const scope = computeScopeUnion(config.scope, challenge.more ? before?.tokens?.scope : undefined, challenge.scope)
    try {
      return await ask({
        ...{ url, config, fetch: this.#ask, authorize, before },
        ...(scope === undefined ? {} : { scope }),
        ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
      })
    } catch (error) {
      throw this.#loginRequired(
        `the login failed: ${redact((error as Error).message, this.secrets())}`,
        challenge,
        error,
      )
    }
  }

  #known(grant: Grant | null): Grant | null {
    const isNew = (secret: string) => secret.length >= limits.secretBytesMin && !this.#secrets.includes(secret)
    const fresh = secretsIn(grant).filter(isNew)
    if (fresh.length > 0) this.#secrets = [...this.#secrets, ...fresh].slice(-limits.oauthSecretsKeptMax)
    return grant
  }

  #error(state: string, cause?: unknown): AppError {
    const { server } = this.#options
    return new AppError(
      'UPSTREAM_UNREACHABLE',
      `Cannot reach the server "${server}": ${state}. Try again`,
      { server },
      cause,
    )
  }

  /**
   * Says which command helps; where the credentials are ours, it is the configuration that has to.
   */
  #loginRequired(state: string, { scope }: Challenge, cause?: unknown): AppError {
    const { server, config } = this.#options
    const own = config.grant === 'client_credentials'
    // It will be pasted into a shell, and a server may ask for any scope: a login asks the server
    // again anyway.
    const asked = scope !== undefined && /^[\w.:/ -]+$/.test(scope) ? ` --scope "${scope}"` : ''
    const command = `metier servers login ${server}${asked}`
    const next = own ? 'Check "oauth" of this server in the configuration' : `Log in with: ${command}`
    const message = `Cannot use the server "${server}": ${state}. ${next}`
    const quiet = cause === undefined ? undefined : new Error(redact(String((cause as Error).message), this.secrets()))
    return new AppError('LOGIN_REQUIRED', message, { server, ...(own ? {} : { command }) }, quiet)
  }
}

function reasonFor({ more }: Challenge, before: Grant | null): string {
  if (before?.tokens == null) return 'it needs a login'
  return more ? 'the login does not allow this' : 'it refuses the login'
}

function withoutRefresh(tokens: Tokens | null): Tokens | null {
  if (tokens === null) return null
  const { refresh: _, ...rest } = tokens
  return rest
}

function withToken(given: RequestInit['headers'], grant: Grant | null): Headers {
  const headers = new Headers(given)
  if (grant?.tokens != null) headers.set('authorization', `Bearer ${grant.tokens.access}`)
  return headers
}

function challengeOf(response: Response): Challenge | null {
  const { error, scope, resourceMetadataUrl } = extractWWWAuthenticateParams(response)
  const more = response.status === 403 && error === 'insufficient_scope'
  if (response.status !== 401 && !more) return null
  return {
    more,
    ...(scope === undefined ? {} : { scope }),
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
  }
}
