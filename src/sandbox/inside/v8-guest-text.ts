/**
 * `URL`, `TextEncoder`, `TextDecoder`, `atob` and `btoa` for a bare V8: text goes to the host's
 * own, and text comes back.
 */

/** Answers `=` and a text, or `!` and why there is none. */
type Ask = (act: string, first: string, second: string) => string

/** Runs inside the engine; see `bridge()` for what that allows. */
export function texts(ask: Ask): void {
  const { parse, stringify } = JSON
  const { defineProperty } = Object
  const { apply } = Reflect
  const [StringHere, Bytes, isView] = [String, Uint8Array, ArrayBuffer.isView]
  const { slice, charCodeAt } = String.prototype
  const { fromCharCode } = String
  const globals = globalThis as Record<string, unknown>
  const show = (name: string, value: unknown) =>
    defineProperty(globals, name, { value, writable: true, configurable: true })

  function asked(act: string, first: string, second = ''): string {
    const answer = ask(act, first, second)
    const text = apply(slice, answer, [1])
    if (answer[0] === '=') return text
    throw new TypeError(text)
  }
  function bytesOf(text: string): Uint8Array {
    const bytes = new Bytes(text.length)
    for (let i = 0; i < text.length; i += 1) bytes[i] = apply(charCodeAt, text, [i])
    return bytes
  }
  function textOf(source: unknown): string {
    const view = source as ArrayBufferView
    const bytes = isView(source)
      ? new Bytes(view.buffer, view.byteOffset, view.byteLength)
      : new Bytes(source as ArrayBuffer)
    let text = ''
    for (let i = 0; i < bytes.length; i += 1) text += fromCharCode(bytes[i]!)
    return text
  }

  show('btoa', (text: unknown) => asked('btoa', StringHere(text)))
  show('atob', (text: unknown) => asked('atob', StringHere(text)))

  class TextEncoder {
    get encoding(): string {
      return 'utf-8'
    }
    encode(text: unknown = ''): Uint8Array {
      return bytesOf(asked('encode', StringHere(text)))
    }
  }
  class TextDecoder {
    #label: string
    #options: string
    constructor(label: unknown = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
      this.#options = stringify({ label: StringHere(label), fatal: !!fatal, ignoreBOM: !!ignoreBOM })
      this.#label = asked('label', this.#options)
    }
    get encoding(): string {
      return this.#label
    }
    decode(source: unknown = new Bytes(0)): string {
      return asked('decode', this.#options, textOf(source))
    }
  }

  type Parts = Record<string, string>
  const readOnly = ['origin']
  const names = ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']
  class URL {
    #parts: Parts
    constructor(href: unknown, base?: unknown) {
      this.#parts = parse(asked('url', StringHere(href), base === undefined ? '' : `=${StringHere(base)}`))
    }
    static canParse(href: unknown, base?: unknown): boolean {
      return URL.parse(href, base) !== null
    }
    static parse(href: unknown, base?: unknown): URL | null {
      try {
        return new URL(href, base)
      } catch {
        return null
      }
    }
    static part(url: URL, name: string): string {
      return url.#parts[name]!
    }
    static change(url: URL, name: string, value: unknown): void {
      url.#parts = parse(asked('change', url.#parts.href!, stringify([name, StringHere(value)])))
    }
    toString(): string {
      return this.#parts.href!
    }
    toJSON(): string {
      return this.#parts.href!
    }
  }
  const { part, change } = URL
  delete (URL as { part?: unknown }).part
  delete (URL as { change?: unknown }).change
  for (const name of [...names, ...readOnly]) {
    const get = function (this: URL) {
      return part(this, name)
    }
    const set = function (this: URL, value: unknown) {
      change(this, name, value)
    }
    const setter = readOnly.includes(name) ? {} : { set }
    defineProperty(URL.prototype, name, { get, ...setter, enumerable: true, configurable: true })
  }

  type Pair = [string, string]
  class URLSearchParams {
    #pairs: Pair[]
    constructor(text: unknown = '') {
      this.#pairs = parse(asked('pairs', StringHere(text)))
    }
    get size(): number {
      return this.#pairs.length
    }
    append(name: unknown, value: unknown): void {
      this.#pairs = [...this.#pairs, [StringHere(name), StringHere(value)]]
    }
    delete(...[name, value]: unknown[]): void {
      const [wanted, only] = [StringHere(name), value === undefined ? null : StringHere(value)]
      this.#pairs = this.#pairs.filter(([one, its]) => one !== wanted || (only !== null && its !== only))
    }
    get(name: unknown): string | null {
      return this.#pairs.find(([one]) => one === StringHere(name))?.[1] ?? null
    }
    getAll(name: unknown): string[] {
      return this.#pairs.filter(([one]) => one === StringHere(name)).map(([, value]) => value)
    }
    has(...[name, value]: unknown[]): boolean {
      const only = value === undefined ? null : StringHere(value)
      return this.#pairs.some(([one, its]) => one === StringHere(name) && (only === null || its === only))
    }
    set(name: unknown, value: unknown): void {
      const wanted = StringHere(name)
      const at = this.#pairs.findIndex(([one]) => one === wanted)
      if (at < 0) return this.append(wanted, value)
      const left = this.#pairs.filter(([one], i) => one !== wanted || i === at)
      this.#pairs = left.map(([one, its]): Pair => (one === wanted ? [one, StringHere(value)] : [one, its]))
    }
    sort(): void {
      this.#pairs = [...this.#pairs].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    }
    toString(): string {
      return asked('query', stringify(this.#pairs))
    }
    *entries(): Generator<Pair> {
      for (const [name, value] of this.#pairs) yield [name, value]
    }
    *keys(): Generator<string> {
      for (const [name] of this.#pairs) yield name
    }
    *values(): Generator<string> {
      for (const [, value] of this.#pairs) yield value
    }
    [Symbol.iterator](): Generator<Pair> {
      return this.entries()
    }
    forEach(act: (value: string, name: string, params: URLSearchParams) => void): void {
      for (const [name, value] of this.#pairs) act(value, name, this)
    }
  }
  for (const [name, value] of Object.entries({ TextEncoder, TextDecoder, URL, URLSearchParams })) show(name, value)
}
