/** A value that a schema describes, as small as can be: what is required, and nothing else. */
import { isObject, type Json, type JsonObject, limits } from '#model'
import { spotAt } from './schema-at.ts'

/**
 * References are read in `root`. What a schema says in words that are not read here (a pattern) is
 * not kept.
 */
export function sampleOf(schema: Json, root: Json = schema): Json {
  return new Sampler(root).of(schema, 0)
}

class Sampler {
  readonly #root: Json
  /**
   * A schema that refers to itself could be followed for ever, or become larger with every step.
   */
  #left: number = limits.sampleStepsMax

  constructor(root: Json) {
    this.#root = root
  }

  of(schema: Json, depth: number): Json {
    const here = spotAt({ schema, root: this.#root }, '').schema
    this.#left -= 1
    if (!isObject(here) || this.#left < 0 || depth > limits.toolSchemaDepthMax) return {}
    const given = givenBy(here)
    if (given !== undefined) return given
    const own = this.#ofKind(here as JsonObject, depth + 1)
    const parts = [...listOf(here.allOf), ...listOf(here.anyOf ?? here.oneOf).slice(0, 1)]
    const sample = parts.map((part) => this.of(part, depth + 1)).reduce<Json | undefined>(joined, own)
    return sample === undefined ? {} : sample
  }

  /** Undefined where the schema does not say of which kind it is. */
  #ofKind(schema: JsonObject, depth: number): Json | undefined {
    const { type } = schema
    switch (Array.isArray(type) ? type[0] : type) {
      case 'string':
        return formats[String(schema.format)] ?? 'x'.repeat(Math.min(numberOf(schema.minLength), limits.sampleItemsMax))
      case 'number':
      case 'integer':
        return smallest(schema)
      case 'boolean':
        return false
      case 'null':
        return null
      case 'array': {
        const length = Math.min(numberOf(schema.minItems), limits.sampleItemsMax)
        const first = listOf(schema.prefixItems)
        return Array.from({ length }, (_, index) => this.of(first[index] ?? schema.items ?? {}, depth))
      }
      default:
        return type === 'object' || schema.required !== undefined ? this.#ofMembers(schema, depth) : undefined
    }
  }

  #ofMembers({ properties, required }: JsonObject, depth: number): Json {
    const members = isObject(properties) ? (properties as JsonObject) : {}
    return Object.fromEntries(
      listOf(required)
        .map(String)
        .map((name) => [name, this.of(members[name] ?? {}, depth)]),
    )
  }
}

/** One text for each format that schemas commonly name. */
const formats: Record<string, string> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  time: '00:00:00Z',
  duration: 'PT1S',
  email: 'someone@example.org',
  hostname: 'example.org',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.org/',
  'uri-reference': '/',
  uuid: '00000000-0000-4000-8000-000000000000',
  'json-pointer': '/a',
  regex: 'x',
}

function givenBy(schema: Record<string, unknown>): Json | undefined {
  const name = ['default', 'const', 'examples', 'enum'].find((key) => schema[key] !== undefined)
  if (name === 'default' || name === 'const') return schema[name] as Json
  return name === undefined ? undefined : listOf(schema[name])[0]
}

function smallest({ type, minimum, exclusiveMinimum, maximum }: JsonObject): number {
  const above = exclusiveMinimum === undefined ? Number.NEGATIVE_INFINITY : Math.floor(numberOf(exclusiveMinimum)) + 1
  const least = Math.max(above, minimum === undefined ? above : numberOf(minimum))
  const whole = type === 'integer' ? Math.ceil(least) : least
  if (whole > 0) return whole
  return maximum === undefined ? 0 : Math.min(0, numberOf(maximum))
}

function joined(one: Json | undefined, other: Json): Json {
  if (isObject(one) && isObject(other)) return { ...(one as JsonObject), ...(other as JsonObject) }
  return one === undefined ? other : one
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value : []
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
