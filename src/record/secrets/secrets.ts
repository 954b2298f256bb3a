/**
 * Secrets of one run: hidden behind placeholders before anything is recorded, put back as a call is
 * sent.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { AppError, crypto, type EventBodies, type Json, limits, redactedSecret, sha256 } from '#model'
import { findSecrets } from './find-secrets.ts'
import { type Mapping, mapStrings } from './map-strings.ts'
import { secretExpressions } from './secret-encodings.ts'

export type Secrets = {
  /** The value with every secret in it replaced; `from` is the server that it came from. */
  hide(value: Json, from: string): Json
  /**
   * The same, a slice at a time, so that a large value does not block the event loop; a promise
   * where it took longer than one. `kept` are placeholders that the value may hold: its maker was
   * shown them.
   */
  hideInSlices(value: Json, from: string, kept?: PlaceholderSet): Json | Promise<Json>
  /**
   * The value with the true secrets in it, those of them that another server than `to` gave, and
   * whether one is kept no more.
   */
  reveal(value: Json, to: string): { value: Json; foreign: { placeholder: string; from: string }[]; isLost: boolean }
}

export type SealedSecret = { placeholder: string; value: string; server: string }

/** Where true values are kept while the run is open: its chain. */
type SealedValues = {
  seal(placeholder: string, value: string, server: string): void
  sealed(): SealedSecret[]
}

type SecretsOptions = {
  /** Regular expressions. */
  patterns: readonly string[]
  /** Values that the configuration brought in. */
  known: readonly string[]
  /** The run's seed: placeholders are drawn from it, never from what they stand for. */
  seed: string
  chain: SealedValues
}

type Started = EventBodies['run.started']

/** Placeholders that may stand where they stand. */
type PlaceholderSet = ReadonlySet<string>

/** One look through a value; not the last where it found a secret that was not known. */
type Pass = { mapping: Mapping; isLast(): boolean }

type Secret = { placeholder: string; value: string; servers: string[] }

export const placeholderPattern = /«secret:[0-9a-f]{32}»/g

export function openSecrets({ patterns, known, seed, chain }: SecretsOptions): Secrets {
  const byValue = new Map<string, Secret>()
  const byPlaceholder = new Map<string, Secret>()
  const expressions = [...expressionsOf(known, compileKnown), ...expressionsOf(patterns, compilePatterns)]
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

  function hideText(text: string, from: string, known: RegExp[], kept: PlaceholderSet): string {
    let hidden = ''
    let end = 0
    for (const [start, stop] of findSecrets(text, known)) {
      hidden += defusePlaceholders(text.slice(end, start), kept) + placeholderOf(text.slice(start, stop), from)
      end = stop
    }
    return hidden + defusePlaceholders(text.slice(end), kept)
  }

  /**
   * What was found by its surroundings in one place may stand in another without them: then all is
   * looked through again.
   */
  function pass(value: Json, from: string, kept: PlaceholderSet = noPlaceholders): Pass {
    seen ??= seenExpressions()
    const known = [...seen, ...expressions]
    const before = byValue.size
    const mapping = mapStrings(value, (text) => hideText(text, from, known, kept))
    return { mapping, isLast: () => byValue.size === before }
  }

  function hide(value: Json, from: string): Json {
    for (;;) {
      const { mapping, isLast } = pass(value, from)
      mapping.step(Number.POSITIVE_INFINITY)
      if (isLast()) return mapping.value()
    }
  }

  function hideInSlices(value: Json, from: string, kept?: PlaceholderSet): Json | Promise<Json> {
    const began = performance.now()
    const { mapping, isLast } = pass(value, from, kept)
    if (!mapping.step(limits.sliceMs) || !isLast()) return hideLater(value, from, kept)
    return performance.now() - began < limits.sliceMs ? mapping.value() : Promise.resolve(mapping.value())
  }

  async function hideLater(value: Json, from: string, kept?: PlaceholderSet): Promise<Json> {
    for (;;) {
      const { mapping, isLast } = pass(value, from, kept)
      do await yieldToEventLoop()
      while (!mapping.step(limits.sliceMs))
      if (isLast()) return mapping.value()
    }
  }

  function reveal(value: Json, to: string): ReturnType<Secrets['reveal']> {
    const foreign = new Map<string, { placeholder: string; from: string }>()
    let isLost = false
    const mapping = mapStrings(value, (text) =>
      text.replace(placeholderPattern, (placeholder) => {
        const secret = byPlaceholder.get(placeholder)
        if (!secret) isLost = true
        else if (!secret.servers.includes(to)) foreign.set(placeholder, { placeholder, from: secret.servers[0]! })
        return secret?.value ?? placeholder
      }),
    )
    mapping.step(Number.POSITIVE_INFINITY)
    return { value: mapping.value(), foreign: [...foreign.values()], isLost }
  }

  return { hide, hideInSlices, reveal }
}

/**
 * A fork draws other placeholders than the run that it left: those it took over may stand for what
 * is gone.
 */
export function placeholderSeed({ seed, forkedFrom }: Pick<Started, 'seed' | 'forkedFrom'>, run: string): string {
  return forkedFrom === undefined ? seed : sha256(`${seed} ${run}`)
}

/** All that a run can ever draw. */
export function drawnPlaceholders(seed: string): Set<string> {
  return new Set(Array.from({ length: limits.secretsPerRunMax + 1 }, (_, count) => drawPlaceholder(seed, count)))
}

/**
 * For what is recorded nowhere: the text without any of these secrets, in whichever form; the same
 * list is compiled once.
 */
export function redactKnown(text: string, known: readonly string[]): string {
  let redacted = ''
  let end = 0
  for (const [start, stop] of findSecrets(text, expressionsOf(known, compileKnown))) {
    redacted += `${text.slice(end, start)}${redactedSecret}`
    end = stop
  }
  return redacted + text.slice(end)
}

function drawPlaceholder(seed: string, count: number): string {
  const digest = crypto().createHmac('sha256', Buffer.from(seed, 'hex')).update(`secret ${count}`).digest('hex')
  return `«secret:${digest.slice(0, 32)}»`
}

/** What only looks like a placeholder must never become a secret on its way out. */
function defusePlaceholders(text: string, kept: PlaceholderSet): string {
  if (kept.size === 0) return text.replaceAll('«secret:', '« secret:')
  return text.replace(/«secret:(?:[0-9a-f]{32}»)?/g, (one) => (kept.has(one) ? one : one.replace('«', '« ')))
}

const noPlaceholders: PlaceholderSet = new Set()

/** The placeholders that stand in a text. */
export function placeholdersIn(text: string): PlaceholderSet {
  return new Set(text.match(placeholderPattern))
}

/** Made once of a list, since every run begins with the same. */
const compiled = new WeakMap<readonly string[], RegExp[]>()

function expressionsOf(list: readonly string[], compile: (list: readonly string[]) => RegExp[]): RegExp[] {
  const expressions = compiled.get(list) ?? compile(list)
  compiled.set(list, expressions)
  return expressions
}

const compileKnown = (known: readonly string[]) =>
  known.filter((secret) => secret.length >= limits.secretBytesMin).flatMap(secretExpressions)

const compilePatterns = (patterns: readonly string[]) => patterns.map(compilePattern)

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
