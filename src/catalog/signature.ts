/** A JSON schema as a short TypeScript-like signature, for a model that has to write a call. */
import { atPointer, isObject, limits } from '#model'

/**
 * `{ key: string, by: number, ms?: number }`. What is too deep or too long is said with less detail, never wrongly.
 * `root` is where references point into.
 */
export function signatureOf(schema: unknown, root: unknown = schema): string {
  for (let depth: number = limits.signatureDepthMax; depth >= 0; depth--) {
    const signature = typeOf({ root, depth }, schema)
    if (signature.length <= limits.signatureCharactersMax) return signature
  }
  return 'object'
}

/** Where we are: how many levels may still be opened. */
type Place = { root: unknown; depth: number }

function typeOf(place: Place, schema: unknown): string {
  if (!isObject(schema)) return schema === false ? 'never' : 'unknown'
  if (place.depth < 0) return typeof schema.type === 'string' ? schema.type : 'unknown'
  const deeper = { root: place.root, depth: place.depth - 1 }
  if (typeof schema.$ref === 'string') return typeOf(deeper, refersTo(place.root, schema.$ref))
  if ('const' in schema) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return unionOf(schema.enum.map((value) => JSON.stringify(value)))
  for (const key of ['anyOf', 'oneOf'] as const) {
    const forms = schema[key]
    if (Array.isArray(forms)) return unionOf(forms.map((form) => typeOf(deeper, form)))
  }
  if (Array.isArray(schema.type)) return unionOf(schema.type.map((type) => typeOf(place, { ...schema, type })))
  return plainTypeOf(deeper, schema)
}

function plainTypeOf(place: Place, schema: Record<string, unknown>): string {
  if (schema.type === 'object' || (schema.type === undefined && isObject(schema.properties)))
    return objectOf(place, schema)
  if (schema.type === 'array') {
    const item = typeOf(place, schema.items ?? {})
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`
  }
  if (schema.type === 'integer') return 'number'
  if (Array.isArray(schema.allOf)) return schema.allOf.map((part) => typeOf(place, part)).join(' & ')
  return typeof schema.type === 'string' ? schema.type : 'unknown'
}

function objectOf(place: Place, schema: Record<string, unknown>): string {
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const members = Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, member]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    return `${key}${required.has(name) ? '' : '?'}: ${typeOf(place, member)}`
  })
  const others = schema.additionalProperties
  if (isObject(others)) members.push(`[key: string]: ${typeOf(place, others)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** At most a handful of forms, each once; the rest is only hinted at. */
function unionOf(forms: string[]): string {
  const different = [...new Set(forms)]
  if (different.includes('unknown')) return 'unknown'
  const shown = different.slice(0, limits.signatureUnionMax)
  return [...shown, ...(different.length > shown.length ? ['…'] : [])].join(' | ') || 'never'
}

/** Only references inside the schema itself are followed. */
export function refersTo(root: unknown, reference: string): unknown {
  return reference.startsWith('#') ? atPointer(root, decoded(reference.slice(1))) : undefined
}

/** Without the percent signs of an address; as it stands where they mean nothing. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
