/**
 * What a text may mean to a server that decodes, folds or resolves it: one normal form, and the
 * readings of an address.
 */
import { limits } from '#model'

/** Characters that look like a dot or a slash and that NFKC leaves as they are. */
const lookalikes: [RegExp, string][] = [
  [/[\u2044\u2215\u29f8\u2571]/g, '/'],
  [/[\u2216\u29f5\u29f9\u2572]/g, '\\'],
  [/[\u3002\uff61]/g, '.'],
]

/** Nothing that decoding or folding would change. */
const isPlain = (text: string) => /^[ -$&-~]*$/.test(text)

/**
 * Percent-decoded as often as it goes, in Unicode's compatibility form, without what is invisible
 * and without white space around. Null where it is encoded more often than any honest client does.
 */
export function decoded(text: string): string | null {
  let now = text
  for (let round = 0; round < limits.policyDecodeRoundsMax; round++) {
    const before = now
    if (isPlain(now)) return now.trim()
    now = unescaped(visibleForm(now))
    if (now === before) return now.trim()
  }
  return null
}

/** An ellipsis stays one: as three dots it would look like a way out of a folder. */
function visibleForm(text: string): string {
  const compatible = text.split('…').map((part) => part.normalize('NFKC'))
  const known = lookalikes.reduce((form, [signs, sign]) => form.replace(signs, sign), compatible.join('…'))
  return known.replace(/[\p{Cc}\p{Cf}]/gu, '')
}

/**
 * One round, `%25` of any depth included; also the overlong forms of UTF-8 and `%uXXXX`, which some
 * servers read.
 */
function unescaped(text: string): string {
  if (!text.includes('%')) return text
  return text
    .replace(/%(?:25)+(?=[0-9a-f]{2}|u[0-9a-f]{4})/gi, '%')
    .replace(/%u([0-9a-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/%(?:c0|e0%80)%([89ab][0-9a-f])/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16) - 0x80))
    .replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
}

/**
 * A decoded text as the place that it names: one kind of slash, no `//`, `/./` or `/` at the end,
 * no `file:`, in one case. Patterns are brought into the same form.
 */
export function normalForm(text: string): string {
  const slashes = text.replaceAll('\\', '/').toUpperCase().toLowerCase()
  const place = slashes.replace(/^file:(?:\/\/[^/]*)?(?=\/)/, '')
  const single = place.replace(/\/{2,}/g, '/').replace(/\/(?:\.\/)+/g, '/')
  const short = single.replace(/^(?:\.\/)+(?=.)/, '').replace(/\/\.?$/, '')
  return short === '' && single !== '' ? '/' : withoutPort(short)
}

/** An address without the port that its scheme has anyway, and without a dot behind its host. */
function withoutPort(text: string): string {
  return text
    .replace(/^((?:http|ws):\/[^/]*):80(?=\/|$)/, '$1')
    .replace(/^((?:https|wss):\/[^/]*):443(?=\/|$)/, '$1')
    .replace(/^((?:https?|wss?|ftp):\/[^/]*[^/.])\.(?=[:/]|$)/, '$1')
}

/** What is left where a server takes NUL for the end; null where there is none. */
export function beforeNul(text: string): string | null {
  const end = text.search(/\0|%(?:25)*00/i)
  return end < 0 ? null : text.slice(0, end)
}

/**
 * `exact` is the same address in its one form; `near` are others that may lead to the same place.
 */
type Address = { exact: string; near: string[] }

/** Null where the text is no address with a host. */
export function addressOf(text: string): Address | null {
  if (!/^\s*(?:https?|wss?|ftp|file):/i.test(text) || !URL.canParse(text)) return null
  const { protocol, hostname, port, pathname, search, hash } = new URL(text)
  if (protocol === 'file:') return { exact: `${pathname}${search}${hash}`, near: [pathname] }
  const origin = `${protocol}//${hostOf(hostname)}${port === '' ? '' : `:${port}`}`
  return { exact: `${origin}${pathname}${search}${hash}`, near: [`${origin}${pathname}${search}`, origin + pathname] }
}

/**
 * A host that stands alone, as `hostname` or `hostname:port`, where it is an address of the
 * network.
 */
export function bareHost(text: string): string | null {
  if (text.length > limits.policyHostCharactersMax) return null
  if (!/^(?:[0-9][0-9a-fx.]*|\[?[0-9a-f]*:[0-9a-f:.]*\]?)\.?(?::\d+)?$/i.test(text)) return null
  const address = text.includes(':') && !text.includes('[') && text.split(':').length > 2 ? `[${text}]` : text
  if (!URL.canParse(`http://${address}`)) return null
  return hostOf(new URL(`http://${address}`).hostname)
}

/**
 * Without a dot at its end; an IPv4 address inside an IPv6 one (mapped, compatible or NAT64) as
 * itself.
 */
function hostOf(hostname: string): string {
  const [, high, low] = /^\[(?:::ffff:|::|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(hostname) ?? []
  if (high === undefined || low === undefined) return hostname.replace(/\.$/, '')
  const bytes = [high, low].flatMap((part) => [Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 255])
  return bytes.join('.')
}
