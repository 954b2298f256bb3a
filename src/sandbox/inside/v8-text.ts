/**
 * The host's side of text for a bare V8: Node's own `URL`, encodings and base64, asked with text
 * alone.
 */

const names = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
]

/** Whatever is asked, the answer is a text: `=` and what was found, or `!` and why nothing was. */
export function answerText(act: unknown, first: unknown, second: unknown): string {
  try {
    return `=${acts[String(act)]!(String(first), String(second))}`
  } catch (thrown) {
    return `!${(thrown as Error).message}`
  }
}

const acts: Record<string, (first: string, second: string) => string> = {
  btoa: (text) => btoa(text),
  atob: (text) => atob(text),
  encode: (text) => Buffer.from(text).toString('latin1'),
  label: (options) => decoderOf(options).encoding,
  decode: (options, bytes) => decoderOf(options).decode(Buffer.from(bytes, 'latin1')),
  url: (href, base) => partsOf(base === '' ? new URL(href) : new URL(href, base.slice(1))),
  change(href, text) {
    const [name, value] = JSON.parse(text) as [string, string]
    const url = new URL(href)
    if (names.includes(name)) url[name as 'href'] = value
    return partsOf(url)
  },
  pairs: (text) => JSON.stringify([...new URLSearchParams(text)]),
  query: (pairs) => new URLSearchParams(JSON.parse(pairs) as [string, string][]).toString(),
}

function decoderOf(options: string): InstanceType<typeof TextDecoder> {
  const { label, fatal, ignoreBOM } = JSON.parse(options) as { label: string; fatal: boolean; ignoreBOM: boolean }
  return new TextDecoder(label, { fatal, ignoreBOM })
}

function partsOf(url: URL): string {
  return JSON.stringify(Object.fromEntries(names.map((name) => [name, url[name as 'href']])))
}
