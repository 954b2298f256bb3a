/** Where the results of a dry run come from: mocks, then the record, then the tool's schema. Nothing is called. */
import { AppError, isErrorCode, isObject, type Json, type JsonObject, limits, toText } from '#model'
import type { Store } from '#record'
import type { OpenCall, Result } from './call.ts'

export type Mocks = {
  /** Values put into the run's arguments, by dotted path. */
  args?: JsonObject
  /** By tool: a value, `{ error }`, or a list of such, one a call, the last for all that follow. */
  tools?: JsonObject
  /** By call. */
  calls?: JsonObject
}

export type Pretend = (call: OpenCall) => { result: Result; by: 'mock' | 'record' | 'engine' }

/** What the record holds as the result of the same tool with the same bytes of arguments. */
export type Recorded = (tool: string, args: string) => string | undefined

/** Looked through when it is first asked for. */
export function openRecorded(store: Store): Recorded {
  let results: Map<string, string> | null = null
  return (tool, args) => {
    results ??= recordedResults(store)
    return results.get(`${tool} ${args}`)
  }
}

/** How many runs are looked through for a recorded result. */
const runsMax = 100

export function pretending(mocks: Mocks, recorded: Recorded): Pretend {
  const used = new Map<string, number>()
  return (call) => {
    const mock = mocks.calls?.[call.id] ?? nextOf(mocks.tools?.[call.tool], call.tool, used)
    if (mock !== undefined) return { result: resultOf(mock, call), by: 'mock' }
    const text = recorded(call.tool, call.args)
    if (text !== undefined) return { result: { ok: true, value: JSON.parse(text) as Json }, by: 'record' }
    return {
      result: { ok: true, value: sampleOf(call.definition?.output ?? call.definition?.observed ?? {}) },
      by: 'engine',
    }
  }
}

/** The arguments with the mocked ones in place. */
export function mockedArguments(args: Json, mocked?: JsonObject): Json {
  if (mocked === undefined) return args
  const copy = structuredClone(args)
  for (const [path, value] of Object.entries(mocked)) put(copy, path.split('.'), value)
  return copy
}

function put(target: Json, [key, ...rest]: string[], value: Json): void {
  if (!isObject(target) || key === undefined || key === '__proto__') return
  const object = target as JsonObject
  if (rest.length === 0) object[key] = value
  else {
    if (!isObject(object[key])) object[key] = {}
    put(object[key]!, rest, value)
  }
}

function nextOf(mock: Json | undefined, tool: string, used: Map<string, number>): Json | undefined {
  if (!Array.isArray(mock)) return mock
  const index = used.get(tool) ?? 0
  used.set(tool, index + 1)
  return mock[Math.min(index, mock.length - 1)]
}

function resultOf(mock: Json, call: OpenCall): Result {
  if (!isObject(mock) || Object.keys(mock).length !== 1 || mock.error === undefined) return { ok: true, value: mock }
  const { code, message } = isObject(mock.error) ? mock.error : { code: undefined, message: mock.error }
  const named = isErrorCode(code) ? code : 'TOOL_ERROR'
  return { ok: false, error: new AppError(named, String(message ?? 'A mocked error'), { tool: call.tool } as never) }
}

/** What the newest runs got for the same tool and the same bytes of arguments. */
function recordedResults(store: Store): Map<string, string> {
  const results = new Map<string, string>()
  for (const { run } of store.runs({ limit: runsMax }).reverse()) {
    const asked = new Map<string, string>()
    for (const event of store.events(run)) {
      if (event.type === 'call.issued') asked.set(event.body.call, `${event.body.tool} ${store.text(event.body.args)}`)
      if (event.type !== 'call.resolved' || !event.body.ok || event.body.by !== 'upstream') continue
      results.set(asked.get(event.body.call)!, store.text(event.body.value ?? null))
    }
  }
  return results
}

/** The smallest value that a schema describes: what is required, and nothing else. */
export function sampleOf(schema: Json, depth = 0): Json {
  if (!isObject(schema) || depth > limits.toolSchemaDepthMax) return {}
  const { default: given, examples, enum: values, const: fixed, type, properties, required } = schema as JsonObject
  const known =
    given ??
    fixed ??
    (Array.isArray(examples) ? examples[0] : undefined) ??
    (Array.isArray(values) ? values[0] : undefined)
  if (known !== undefined) return known
  const kind = Array.isArray(type) ? type[0] : type
  if (kind === 'string') return ''
  if (kind === 'number' || kind === 'integer') return 0
  if (kind === 'boolean') return false
  if (kind === 'array') return []
  if (kind === 'null') return null
  const names = Array.isArray(required) ? required.map(String) : []
  const members = isObject(properties) ? (properties as JsonObject) : {}
  return Object.fromEntries(names.map((name) => [name, sampleOf(members[name] ?? {}, depth + 1)]))
}

export function readMocks(value: Json): Mocks {
  const wrong =
    !isObject(value) ||
    Object.entries(value).some(([key, member]) => !['args', 'tools', 'calls'].includes(key) || !isObject(member))
  if (!wrong) return value as Mocks
  const details = 'it must be { args?, tools?, calls? }, each an object'
  throw new AppError('INVALID_INPUT_PARAM', `Cannot read "mocks": ${details}`, {
    param: 'mocks',
    details,
    value: toText(value).slice(0, limits.previewCharactersMax),
  })
}
