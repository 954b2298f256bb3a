/**
 * What the engine's `URL` lacks: parameters made from pairs and records, and the `searchParams` of
 * a URL, kept in step with it.
 */

/** Runs inside the engine; see `bridge()` for what that allows. */
export function urls(): void {
  const { defineProperty, getOwnPropertyDescriptor, keys } = Object
  const { apply } = Reflect
  const StringHere = String
  const Native = URLSearchParams
  const { append, delete: remove, set, sort, toString: text } = Native.prototype
  const links = new WeakMap<object, Params>()
  const [linkOf, link] = [WeakMap.prototype.get, WeakMap.prototype.set]
  const search = getOwnPropertyDescriptor(URL.prototype, 'search')!
  const href = getOwnPropertyDescriptor(URL.prototype, 'href')!

  function pairsOf(init: object): [unknown, unknown][] {
    const pairs: [unknown, unknown][] = []
    if (!(Symbol.iterator in init)) {
      for (const key of keys(init)) pairs.push([key, (init as Record<string, unknown>)[key]])
      return pairs
    }
    for (const pair of init as Iterable<Iterable<unknown>>) {
      const values = [...pair]
      if (values.length !== 2) throw new TypeError('each pair of parameters has a name and a value')
      pairs.push([values[0], values[1]])
    }
    return pairs
  }

  class Params extends Native {
    #url: URL | null = null

    constructor(init?: unknown) {
      const isObject = typeof init === 'object' && init !== null
      super(isObject || init === undefined ? '' : StringHere(init))
      if (!isObject) return
      for (const [name, value] of pairsOf(init)) apply(append, this, [StringHere(name), StringHere(value)])
    }
    static linked(url: URL): Params {
      const params = new Params(apply(search.get!, url, []))
      params.#url = url
      return params
    }
    /** The URL was changed: the parameters follow. */
    follow(): void {
      const names: string[] = []
      for (const name of super.keys()) names.push(name)
      for (const name of names) apply(remove, this, [name])
      for (const [name, value] of new Params(apply(search.get!, this.#url, []))) apply(append, this, [name, value])
    }
    #lead(): void {
      if (this.#url !== null) apply(search.set!, this.#url, [apply(text, this, [])])
    }
    override append(name: string, value: string): void {
      apply(append, this, [StringHere(name), StringHere(value)])
      this.#lead()
    }
    override delete(...rest: [name: string, value?: string]): void {
      apply(remove, this, rest)
      this.#lead()
    }
    override set(name: string, value: string): void {
      apply(set, this, [StringHere(name), StringHere(value)])
      this.#lead()
    }
    override sort(): void {
      apply(sort, this, [])
      this.#lead()
    }
  }

  const follow = Params.prototype.follow
  delete (Params.prototype as Partial<Params>).follow
  const linked = Params.linked
  delete (Params as { linked?: unknown }).linked

  function followed({ get, set }: PropertyDescriptor): PropertyDescriptor {
    const changed = function (this: URL, value: unknown): void {
      apply(set!, this, [value])
      const params = apply(linkOf, links, [this]) as Params | undefined
      if (params !== undefined) apply(follow, params, [])
    }
    return { get, set: changed, configurable: true, enumerable: true } as PropertyDescriptor
  }
  function searchParams(this: URL): Params {
    const known = apply(linkOf, links, [this]) as Params | undefined
    if (known !== undefined) return known
    const params = linked(this)
    apply(link, links, [this, params])
    return params
  }

  defineProperty(URL.prototype, 'search', followed(search))
  defineProperty(URL.prototype, 'href', followed(href))
  defineProperty(URL.prototype, 'searchParams', { get: searchParams, configurable: true, enumerable: true })
  defineProperty(Params, 'name', { value: 'URLSearchParams', configurable: true })
  defineProperty(globalThis, 'URLSearchParams', { value: Params, writable: true, configurable: true })
}
