/** Reads and writes the little XML that S3 speaks: flat elements in elements. */

/** The text of the first element of this name; null where there is none. */
export function textOf(xml: string, name: string): string | null {
  const [inside] = elementsOf(xml, name)
  return inside === undefined ? null : unescaped(inside)
}

/** What stands in each element of this name; none of them contains itself. */
export function elementsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([^]*?)</${name}>`, 'g'))].map(([, inside]) => inside!)
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescaped(text: string): string {
  return text.replace(/&(?:#x([\da-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (name !== undefined) return entities[name] ?? whole
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  })
}

export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
}
