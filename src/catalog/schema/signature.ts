/** A JSON schema as a short TypeScript-like signature, for a model that has to write a call. */
import { atPointer, isObject, limits } from '#model'

/**
 * `{ key: string, by: number, ms?: number }`. What is too deep or too long is said with less
 * detail, never wrongly. `root` is where references point into.
 */
export function signatureOf(schema: unknown, root: unknown = schema): string {
  const { signatureDepthMax: depthMax, signatureCharactersMax: charactersMax, signatureUnionMax: unionMax } = limits
  return deepestThatFits({ schema, root, depthMax, charactersMax, unionMax })
}

/**
 * A type that the compiler reads: every form of a union, and only what TypeScript has a word for.
 */
export function declaredType(schema: unknown): string {
  const { declaredDepthMax: depthMax, declaredCharactersMax: charactersMax } = limits
  return deepestThatFits({ schema, root: schema, depthMax, charactersMax, unionMax: null })
}

type Bounds = { schema: unknown; root: unknown; depthMax: number; charactersMax: number; unionMax: number | null }

function deepestThatFits({ schema, root, depthMax, charactersMax, unionMax }: Bounds): string {
  for (let depth = depthMax; depth >= 0; depth--) {
    const place = { root, depth, unionMax, steps: { left: limits.signatureStepsMax } }
    const type = typeOf(place, schema)
    if (place.steps.left >= 0 && type.length <= charactersMax) return type
  }
  return 'object'
}

/**
 * Where we are: how many levels may still be opened, how many forms of a union shown, and how many
 * steps are left, since a schema that refers to itself grows with every level.
 */
type Place = { root: unknown; depth: number; unionMax: number | null; steps: { left: number } }

function typeOf(place: Place, schema: unknown): string {
  if (!isObject(schema)) return schema === false ? 'never' : 'unknown'
  place.steps.left -= 1
  if (place.depth < 0 || place.steps.left < 0) return kindOf(schema.type)
  const deeper = { ...place, depth: place.depth - 1 }
  if (typeof schema.$ref === 'string') return typeOf(deeper, refersTo(place.root, schema.$ref))
  if ('const' in schema) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum))
    return unionOf(
      place,
      schema.enum.map((value) => JSON.stringify(value)),
    )
  for (const key of ['anyOf', 'oneOf'] as const) {
    const forms = schema[key]
    if (Array.isArray(forms))
      return unionOf(
        place,
        forms.map((form) => typeOf(deeper, form)),
      )
  }
  if (Array.isArray(schema.type))
    return unionOf(
      place,
      schema.type.map((type) => typeOf(place, { ...schema, type })),
    )
  return plainTypeOf(deeper, schema)
}

function plainTypeOf(place: Place, schema: Record<string, unknown>): string {
  if (schema.type === 'object' || (schema.type === undefined && isObject(schema.properties)))
    return objectOf(place, schema)
  if (schema.type === 'array') {
    const item = typeOf(place, schema.items ?? {})
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`
  }
  if (Array.isArray(schema.allOf)) return schema.allOf.map((part) => typeOf(place, part)).join(' & ')
  return kindOf(schema.type)
}

const kinds: Record<string, string> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
  object: 'object',
  array: 'unknown[]',
}

function kindOf(type: unknown): string {
  return typeof type === 'string' && Object.hasOwn(kinds, type) ? kinds[type]! : 'unknown'
}

function objectOf(place: Place, schema: Record<string, unknown>): string {
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  const members = Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, member]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    const type = typeOf(place, member)
    // A signature is short: of a type that it does not know it says nothing. A compiler wants one.
    const said = type === 'unknown' && place.unionMax !== null ? '' : `: ${type}`
    return `${key}${required.has(name) ? '' : '?'}${said}`
  })
  const others = schema.additionalProperties
  if (isObject(others)) members.push(`[key: string]: ${typeOf(place, others)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** Each form once; in a signature at most a handful, with a hint at the rest. */
function unionOf({ unionMax }: Place, forms: string[]): string {
  const different = [...new Set(forms)]
  if (different.includes('unknown')) return 'unknown'
  const shown = different.slice(0, unionMax ?? different.length)
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
