/** Secrets of one run: hidden behind placeholders before anything is recorded, put back as a call is sent. */
import { createHmac } from 'node:crypto'
import { AppError, isObject, type Json, limits } from '#model'
import type { Chain } from './chain.ts'
import { secretExpressions } from './secret-forms.ts'

export type Secrets = {
  /** The value with every secret in it replaced; `from` is the server that it came from. */
  hide(value: Json, from: string): Json
  /** The value with the true secrets in it, and those of them that another server than `to` gave. */
  reveal(value: Json, to: string): { value: Json; foreign: { placeholder: string; from: string }[] }
}

export type SecretsOptions = {
  /** Regular expressions. */
  patterns: readonly string[]
  /** Values that the configuration brought in. */
  known: readonly string[]
  /** The run's seed: placeholders are drawn from it, never from what they stand for. */
  seed: string
  chain: Pick<Chain, 'seal' | 'sealed'>
}

type Secret = { placeholder: string; value: string; servers: string[] }

const placeholderPattern = /«secret:[0-9a-f]{32}»/g

export function openSecrets({ patterns, known, seed, chain }: SecretsOptions): Secrets {
  const byValue = new Map<string, Secret>()
  const byPlaceholder = new Map<string, Secret>()
  const secrets = known.filter((secret) => secret.length >= limits.secretBytesMin)
  const expressions = [...secrets.flatMap(secretExpressions), ...patterns.map(compilePattern)]
  let seen: RegExp[] | null = null
  for (const { placeholder, value, server } of chain.sealed()) remember(placeholder, value, server)

  function remember(placeholder: string, value: string, server: string): Secret {
    const secret = byPlaceholder.get(placeholder) ?? { placeholder, value, servers: [] }
    secret.servers.push(server)
    byValue.set(value, secret)
    byPlaceholder.set(placeholder, secret)
    seen = null
    return secret
  }

  /** What a pattern found by its surroundings must be found again without them. */
  function seenExpressions(): RegExp[] {
    const { secretBytesMin, seenSecretCharactersMax } = limits
    const values = [...byValue.keys()].filter(
      ({ length }) => length >= secretBytesMin && length <= seenSecretCharactersMax,
    )
    const longestFirst = values.sort((a, b) => b.length - a.length).map((value) => RegExp.escape(value))
    return longestFirst.length === 0 ? [] : [new RegExp(longestFirst.join('|'), 'g')]
  }

  function placeholderOf(value: string, from: string): string {
    const known = byValue.get(value)
    if (known?.servers.includes(from)) return known.placeholder
    if (!known) refuseTooMany(byValue.size, value)
    const placeholder = known?.placeholder ?? drawPlaceholder(seed, byValue.size)
    chain.seal(placeholder, value, from)
    return remember(placeholder, value, from).placeholder
  }

  function hideText(text: string, from: string): string {
    let hidden = ''
    let end = 0
    seen ??= seenExpressions()
    for (const [start, stop] of findSecrets(text, [...seen, ...expressions])) {
      hidden += breakUp(text.slice(end, start)) + placeholderOf(text.slice(start, stop), from)
      end = stop
    }
    return hidden + breakUp(text.slice(end))
  }

  function reveal(value: Json, to: string): ReturnType<Secrets['reveal']> {
    const foreign = new Map<string, string>()
    const revealed = mapStrings(value, (text) =>
      text.replace(placeholderPattern, (placeholder) => {
        const secret = byPlaceholder.get(placeholder)
        if (secret && !secret.servers.includes(to)) foreign.set(placeholder, secret.servers[0]!)
        return secret?.value ?? placeholder
      }),
    )
    return { value: revealed, foreign: [...foreign].map(([placeholder, from]) => ({ placeholder, from })) }
  }

  return { hide: (value, from) => mapStrings(value, (text) => hideText(text, from)), reveal }
}

function drawPlaceholder(seed: string, count: number): string {
  const digest = createHmac('sha256', Buffer.from(seed, 'hex')).update(`secret ${count}`).digest('hex')
  return `«secret:${digest.slice(0, 32)}»`
}

/** What only looks like a placeholder must never become a secret on its way out. */
function breakUp(text: string): string {
  return text.replaceAll('«secret:', '« secret:')
}

/** Where secrets stand; what overlaps is one secret, so that no part of it is left over. */
function findSecrets(text: string, expressions: RegExp[]): [start: number, stop: number][] {
  const found: [number, number][] = []
  for (const expression of expressions) {
    for (const match of text.matchAll(expression)) {
      if (match[0].length > 0) found.push([match.index, match.index + match[0].length])
    }
  }
  const merged: [number, number][] = []
  for (const [start, stop] of found.sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1)
    if (last && start < last[1]) last[1] = Math.max(last[1], stop)
    else merged.push([start, stop])
  }
  return merged
}

function compilePattern(pattern: string): RegExp {
  const param = 'record.secrets'
  try {
    const expression = new RegExp(pattern, 'g')
    if (''.match(expression)) throw new Error('it matches an empty text')
    return expression
  } catch (error) {
    const details = (error as Error).message
    throw new AppError('CONFIG_INVALID', `Cannot use the pattern ${pattern} of "${param}": ${details}`, {
      param,
      pattern,
    })
  }
}

function refuseTooMany(count: number, value: string): void {
  const { secretsPerRunMax, secretBytesMax } = limits
  if (count < secretsPerRunMax && Buffer.byteLength(value) <= secretBytesMax) return
  const state = `it holds more than ${secretsPerRunMax} secrets, or one of more than ${secretBytesMax} bytes`
  throw new AppError('RESULT_TOO_LARGE', `Cannot record the value: ${state}. Narrow the patterns of "record.secrets"`)
}

/** The same value with every string in it changed, keys too. */
function mapStrings(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), mapStrings(item as Json, change)]))
}
