/**
 * Headers that repeat arguments of a call (`Mcp-Param-…`), for a proxy that reads no bodies: in the
 * modern era a tool names them in its schema (`x-mcp-header`), and a request whose headers say
 * otherwise than its body is refused.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isObject, type JsonObject } from '#model'

type HeaderDeclaration = { path: string[]; header: string; type: string }

const headerTypes = ['string', 'integer', 'number', 'boolean']
const token = /^[!#$%&'*+\-.^_`|~\w]+$/
const decimal = /^-?\d+(\.\d+)?$/
const encodedForm = /^=\?base64\?(.*)\?=$/s
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Why the headers of a call do not fit its arguments; null where they do. */
export function paramMismatch(schema: JsonObject, args: unknown, headers: IncomingHttpHeaders): string | null {
  for (const { path, header, type } of declarationsOf(schema)) {
    const value = path.reduce<unknown>((node, key) => (isObject(node) ? node[key] : undefined), args)
    // What is not in the body is not expected in the headers either; no other value has a form
    // there.
    if (!['string', 'boolean', 'number'].includes(typeof value)) continue
    if (typeof value === 'number' && !Number.isFinite(value)) continue
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) continue
    const given = headers[`mcp-param-${header.toLowerCase()}`]
    const where = `the header Mcp-Param-${header}`
    if (typeof given !== 'string') return `the argument ${path.join('.')} stands in the body, and ${where} is missing`
    const said = decode(given)
    if (said === null) return `${where} is not base64 of a text`
    const isNumber = typeof value === 'number' && type !== 'string' && decimal.test(said)
    if (isNumber ? Number(said) !== value : said !== String(value))
      return `${where} says otherwise than the argument ${path.join('.')}`
  }
  return null
}

const declarationCache = new WeakMap<JsonObject, HeaderDeclaration[]>()

/**
 * Those at properties of objects; none where one of them is not as it must be, since clients do not
 * know such a tool at all.
 */
function declarationsOf(schema: JsonObject): HeaderDeclaration[] {
  const found = declarationCache.get(schema)
  if (found !== undefined) return found
  const all = [...walk(schema, [])]
  const names = new Set(all.map(({ header }) => header.toLowerCase()))
  const good =
    names.size === all.length && all.every(({ header, type }) => token.test(header) && headerTypes.includes(type))
  const declared = good ? all : []
  declarationCache.set(schema, declared)
  return declared
}

function* walk(schema: JsonObject, path: string[]): Generator<HeaderDeclaration> {
  const { 'x-mcp-header': header, type, properties } = schema
  if (header !== undefined && path.length > 0) yield { path, header: String(header), type: String(type) }
  for (const [key, inner] of Object.entries(isObject(properties) ? properties : {}))
    if (isObject(inner)) yield* walk(inner as JsonObject, [...path, key])
}

/** A text that no header can carry is sealed in base64; null where the seal is broken. */
function decode(value: string): string | null {
  const [, inner] = encodedForm.exec(value) ?? []
  if (inner === undefined) return value
  if (!base64.test(inner)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(inner, 'base64'))
  } catch {
    return null
  }
}
