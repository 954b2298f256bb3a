/**
 * Capabilities as files. Of a file is believed what can be checked: that its source has the digest
 * and the shape that it says, and a schema that only types what is lifted. What the procedure
 * reaches is read from runs here, once it was verified against them.
 */
import { type Capability, shapeOfSource } from '#learn'
import {
  type CapabilitySource,
  type EventBodies,
  isObject,
  isSecretName,
  type Json,
  type JsonObject,
  limits,
  parseCapabilityId,
  type RunId,
  type Stored,
  sha256,
  toText,
} from '#model'
import type { Store } from '#record'
import { invalid } from '#verbs/input'

type Learned = EventBodies['capability.learned']
type Read = Pick<Store, 'events' | 'value' | 'isPurged'>

const format = 'metier capability 1'
const fixturesMax = 3
const schemaMembers = new Set(['type', 'default', 'enum', 'items', 'format', 'minimum', 'maximum'])
const forms = new Set(['same', 'capital', 'lower', 'upper'])

/** Source, schema, digests, and what runs of it did, without what has a secret in it. */
export function exportedCapability(store: Read, one: Capability): JsonObject {
  const { name, intent, source, digest, shape, parametersSchema, tools, effect, servers, lifted = {}, texts = [] } = one
  const fixtures = one.runs.slice(0, fixturesMax).flatMap((run) => fixtureOf(store, run))
  const plain = { name, intent, source, digest, shape, parametersSchema, tools, effect, servers, lifted, texts }
  return { format, ...plain, fixtures }
}

function fixtureOf(store: Read, run: string): JsonObject[] {
  if (store.isPurged(run as RunId)) return []
  const calls = new Map<string, JsonObject>()
  let result: Json = null
  for (const event of store.events(run)) {
    if (event.type === 'call.issued')
      calls.set(event.body.call, { tool: event.body.tool, args: store.value(event.body.args) as Json })
    if (event.type === 'call.resolved' && event.body.value !== undefined)
      calls.get(event.body.call)!.result = store.value(event.body.value) as Json
    if (event.type === 'run.finished') result = opened(store, event.body.result)
  }
  const fixture = { calls: [...calls.values()], result }
  return toText(fixture).includes('«secret:') ? [] : [fixture]
}

const opened = (store: Read, member: Stored<Json> | undefined): Json =>
  member === undefined ? null : store.value(member)

/** What must never be recorded here: as it stands, and as patterns find it. */
export type HomeSecrets = { known: readonly string[]; patterns: readonly string[] }

const wrong = (details: string) => invalid('file', details, null)

/**
 * A candidate under its name, or the next version of it; refuses what is not as it was exported.
 */
export function importedCapability(file: Json, known: readonly Capability[], secrets?: HomeSecrets): Learned {
  if (!isObject(file) || file.format !== format) throw wrong(`it must be a JSON object with "format": "${format}"`)
  if (toText(file).length > limits.capabilityFileCharactersMax)
    throw wrong(`it is longer than ${limits.capabilityFileCharactersMax} characters`)
  const { name, intent, source, digest, shape, parametersSchema, lifted, texts = [] } = file
  if (typeof name !== 'string' || parseCapabilityId(`cap:${name}`) === null)
    throw wrong('its "name" is none of a capability')
  if (typeof intent !== 'string' || intent.length > limits.learnIntentCharactersMax)
    throw wrong(`its "intent" must be a text of at most ${limits.learnIntentCharactersMax} characters`)
  if (!isSource(source)) throw wrong('its "source" is neither code nor a graph of tasks')
  if (sha256(toText(source)) !== digest) throw wrong('its "digest" is not that of its source: it was changed')
  if (!isLifted(lifted) || !areTexts(texts)) throw wrong('its "lifted" and "texts" do not say where parameters stand')
  const read = readShape(source, { lifted, texts })
  if (read === null || read.digest !== shape) throw wrong('its "shape" is not that of its source')
  checkSchema(parametersSchema, [...Object.keys(lifted)])
  checkSecrets(toText([name, intent, source, parametersSchema]), secrets)
  const versions = known.filter((one) => one.name === name).map(({ version }) => version)
  const reach = { tools: {}, effect: null, servers: [], runs: [] }
  return {
    capability: name,
    version: Math.max(0, ...versions) + 1,
    intent,
    subject: null,
    source,
    digest,
    shape: read.digest,
    parametersSchema: parametersSchema as JsonObject,
    ...reach,
    lifted,
    ...(texts.length === 0 ? {} : { texts }),
    imported: true,
  }
}

function readShape(source: CapabilitySource, lifted: Required<Pick<Learned, 'lifted' | 'texts'>>) {
  try {
    return shapeOfSource(source, lifted)
  } catch {
    // What cannot be read as a program or a graph has no shape.
    return null
  }
}

function isSource(value: unknown): value is CapabilitySource {
  if (!isObject(value) || Object.keys(value).length !== 2) return false
  if (value.type === 'code') return typeof value.code === 'string'
  return value.type === 'dag' && Array.isArray(value.tasks) && value.tasks.every(isObject)
}

const isPlace = (value: unknown) =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) < limits.shapeLiteralsMax

function isLifted(value: unknown): value is Record<string, number[]> {
  return isObject(value) && Object.values(value).every((places) => Array.isArray(places) && places.every(isPlace))
}

function areTexts(value: unknown): value is NonNullable<Learned['texts']> {
  const isPiece = (piece: unknown) =>
    typeof piece === 'string' ||
    (isObject(piece) && typeof piece.parameter === 'string' && forms.has(String(piece.form)))
  const isText = (text: unknown) =>
    isObject(text) && isPlace(text.at) && Array.isArray(text.pieces) && text.pieces.every(isPiece)
  return Array.isArray(value) && value.every(isText)
}

/** Types and defaults, and no words: a schema is shown to agents. */
function checkSchema(schema: Json | undefined, lifted: string[]): void {
  if (!isObject(schema) || schema.type !== 'object' || !isObject(schema.properties))
    throw wrong('its "parametersSchema" is none of an object')
  const { type: _, properties, required, additionalProperties, ...rest } = schema
  const names = Object.keys(properties)
  const isKnown = Array.isArray(required) && required.every((name) => names.includes(String(name)))
  if (!isKnown || additionalProperties !== false || Object.keys(rest).length > 0)
    throw wrong(
      'its "parametersSchema" must have "required" of its properties and "additionalProperties": false, no more',
    )
  const missing = lifted.find((name) => !names.includes(name))
  if (missing !== undefined) throw wrong(`its "parametersSchema" lacks the parameter "${missing}"`)
  for (const [name, property] of Object.entries(properties)) {
    const strange = isObject(property) ? Object.keys(property).find((member) => !schemaMembers.has(member)) : 'none'
    if (strange !== undefined) throw wrong(`its parameter "${name}" has "${strange}", which is no type`)
    const { default: preset } = property as JsonObject
    if (preset !== undefined && (isSecretName(name) || toText(preset).length > limits.capabilityDefaultCharactersMax))
      throw wrong(`its parameter "${name}" must have no such default`)
  }
}

function checkSecrets(text: string, secrets: HomeSecrets = { known: [], patterns: [] }): void {
  const isHere =
    text.includes('«secret:') ||
    secrets.known.some((value) => text.includes(value)) ||
    secrets.patterns.some((pattern) => new RegExp(pattern, 'u').test(text))
  if (isHere) throw wrong('it has a secret in it')
}
