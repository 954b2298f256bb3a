/**
 * Judges arguments by a tool's input schema before a call, with an error that a model can act on.
 */
import { createContext, Script } from 'node:vm'
import { type OutputUnit, type Schema, type SchemaDraft, Validator } from '@cfworker/json-schema'
import {
  AppError,
  atPointer,
  isObject,
  isWithinDepth,
  type Json,
  type JsonObject,
  limits,
  type Tool,
  unescapePointerKey,
} from '#model'
import { decoded, refersTo, signatureOf } from './signature.ts'

/** Null when the arguments fit, or when the schema is of no use: then the server judges alone. */
export function problemOf(tool: Tool, args: Json): AppError | null {
  if (!isObject(args)) return invalid(tool, { param: 'arguments', details: 'must be an object' })
  const error = errorsOf(tool, args).find(({ keyword }) => !wrappers.has(keyword) && keyword !== 'if')
  return error === undefined ? null : explain(tool, args, error)
}

/**
 * Whether a tool could answer this, by the output schema that it declares; anything where it
 * declares none.
 */
export function fitsOutput({ output, ...tool }: Tool, value: Json): boolean {
  return (
    output === undefined || errorsOf({ ...tool, input: output, digest: `${tool.digest} output` }, value).length === 0
  )
}

/** Keywords whose errors only say that there is one further inside. */
export const wrappers = new Set([
  'properties',
  'items',
  'prefixItems',
  'allOf',
  '$ref',
  'additionalProperties',
  'patternProperties',
])

export function explain(
  tool: Tool,
  args: Json,
  { instanceLocation, keyword, keywordLocation, error }: OutputUnit,
): AppError {
  const path = partsOf(instanceLocation)
  const schema = schemaAt(tool.input, partsOf(keywordLocation).slice(0, -1))
  if (keyword === 'required') {
    const name = /"(.*)"/.exec(error)?.[1] ?? ''
    const param = [...path, name].join('.')
    const expected = signatureOf(
      propertiesOf(schema)[name] ?? propertiesOf(schemaOf(tool.input, path))[name],
      tool.input,
    )
    const message = `Cannot call "${tool.id}": "${param}" is missing, expected ${expected}`
    return new AppError('MISSING_REQUIRED_PARAM', message, { param, tool: tool.id })
  }
  const param = path.join('.') || 'arguments'
  const value = atPointer(args, decoded(instanceLocation.slice(1))) as Json
  const shown = JSON.stringify(value)?.length <= limits.previewCharactersMax ? { value } : {}
  if (keyword === 'false') {
    const known = Object.keys(propertiesOf(schemaOf(tool.input, path.slice(0, -1))))
    return invalid(tool, { param, details: `is not a parameter; there are ${known.join(', ') || 'none'}`, ...shown })
  }
  const allowed = isObject(schema) && Array.isArray(schema.enum) ? { allowed_values: schema.enum } : {}
  const details = detailsOf(keyword, schema, tool.input) ?? error
  return invalid(tool, { param, details, ...shown, ...allowed })
}

/** Where there is more to say than the validator does; undefined where there is not. */
function detailsOf(keyword: string, schema: unknown, root: JsonObject): string | undefined {
  if (!isObject(schema)) return undefined
  if (keyword === 'type' && schema.type === 'integer') return 'must be integer'
  if (keyword === 'minimum') return `must be at least ${schema.minimum}`
  if (keyword === 'maximum') return `must be at most ${schema.maximum}`
  if (keyword === 'pattern') return `must match the pattern ${cut(String(schema.pattern))}`
  if (!plainWords.has(keyword)) return undefined
  const signature = signatureOf(schema, root)
  // Forms that say nothing of the type are shown as they stand.
  return signature === 'unknown' ? `must fit one of ${cut(JSON.stringify(schema[keyword]))}` : `must be ${signature}`
}

function cut(text: string): string {
  return text.length <= limits.previewCharactersMax ? text : `${text.slice(0, limits.previewCharactersMax)}…`
}

/** What the schema says of the value at a place of the arguments, as far as that is plain. */
function schemaOf(root: JsonObject, path: string[]): unknown {
  const followed = (schema: unknown) =>
    isObject(schema) && typeof schema.$ref === 'string' ? refersTo(root, schema.$ref) : schema
  return path.reduce<unknown>((here, key) => {
    const items = isObject(here) ? here.items : undefined
    return followed(propertiesOf(here)[key] ?? items)
  }, root)
}

function propertiesOf(schema: unknown): Record<string, unknown> {
  return isObject(schema) && isObject(schema.properties) ? schema.properties : {}
}

/** The keys of a JSON Pointer that is written as an address. */
export function partsOf(location: string): string[] {
  const keys = location.split('/').slice(1)
  return keys.map((key) => unescapePointerKey(decoded(key)))
}

/** What stands at a place of the schema; the way there may lead through references. */
function schemaAt(root: JsonObject, keys: string[]): unknown {
  let here: unknown = root
  for (const key of keys) {
    const next: unknown = typeof here === 'object' && here !== null ? here[key as keyof typeof here] : undefined
    here = key === '$ref' && typeof next === 'string' ? refersTo(root, next) : next
  }
  return here
}

/** Where the signature says more than the validator does. */
const plainWords = new Set(['type', 'enum', 'const', 'anyOf', 'oneOf'])

function invalid(
  tool: Tool,
  context: { param: string; details: string; value?: Json; allowed_values?: unknown[] },
): AppError {
  const message = `Cannot call "${tool.id}": "${context.param}" ${context.details}`
  return new AppError('INVALID_INPUT_PARAM', message, { ...context, tool: tool.id })
}

/**
 * A foreign schema may take for ever: such a check has a time limit, which also stops a regular
 * expression.
 */
const timed = createContext({ check: () => {} })
const timedCheck = new Script('check()')

/**
 * What can take long: patterns, references that multiply, comparing all with all, and a schema that
 * is simply large.
 */
function isHeavy(text: string): boolean {
  return text.length > limits.toolSchemaLightBytesMax || /"(?:pattern\w*|\$\w*[rR]ef|uniqueItems)":/.test(text)
}

export function errorsOf(tool: Tool, args: Json): OutputUnit[] {
  let errors: OutputUnit[] = []
  try {
    const { validator, heavy } = checkerOf(tool)
    const check = () => {
      errors = validator?.validate(args).errors ?? []
    }
    if (!heavy) check()
    else {
      timed.check = check
      timedCheck.runInContext(timed, { timeout: limits.schemaCheckMsMax })
    }
  } catch {
    return []
  }
  return errors
}

type Checker = { validator: Validator | null; heavy: boolean }

const checkers = new Map<string, Checker>()

function checkerOf({ digest, input }: Tool): Checker {
  const known = checkers.get(digest)
  if (known !== undefined) return known
  if (checkers.size >= limits.catalogToolsMax) checkers.clear()
  const text = JSON.stringify(input)
  const bounded = text.length <= limits.toolSchemaBytesMax && isWithinDepth(input, limits.toolSchemaDepthMax)
  const validator = bounded ? new Validator(input as Schema, draftOf(input.$schema), false) : null
  const checker = { validator, heavy: isHeavy(text) }
  checkers.set(digest, checker)
  return checker
}

function draftOf(name: unknown): SchemaDraft {
  const text = typeof name === 'string' ? name : ''
  if (text.includes('draft-04')) return '4'
  if (text.includes('draft-07') || text.includes('draft-06')) return '7'
  return text.includes('2019-09') ? '2019-09' : '2020-12'
}
