/**
 * Where the results of a dry run come from: mocks, then the record, then the tool's schema. Nothing
 * is called.
 */
import { AppError, isErrorCode, isObject, type Json, type JsonObject, limits, type Stored, sha256 } from '#model'
import type { Store } from '#record'
import type { Mocks } from '#run/input'
import { sampleOf } from '#run/schema'
import type { Result } from './call-result.ts'
import type { CallFacts } from './open-call.ts'

export type MockedResult = { result: Result; by: 'mock' | 'record' | 'engine' }
export type ResultSource = (call: CallFacts) => MockedResult

/** What the record holds as the result of the same tool with the same bytes of arguments. */
export type RecordedResults = (tool: string, args: string) => string | undefined

/** Looked through when it is first asked for. */
export function recordedResultsOf(store: Store): RecordedResults {
  let results: ReturnType<typeof recordedResults> | null = null
  return (tool, args) => {
    results ??= recordedResults(store)
    const key = `${tool} ${sha256(args)}`
    const member = results.get(key)
    return member === undefined ? undefined : member === null ? 'null' : store.text(member)
  }
}

export function mockResults(mocks: Mocks, recorded: RecordedResults): ResultSource {
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

/** What leads there is made where it is missing; a number is a place in a list where a list is. */
function put(target: Json, [key, ...rest]: string[], value: Json): void {
  if (typeof target !== 'object' || target === null || key === undefined || key === '__proto__') return
  if (Array.isArray(target) && !(/^\d+$/.test(key) && Number(key) <= target.length)) return
  const holder = target as JsonObject
  if (rest.length > 0 && (typeof holder[key] !== 'object' || holder[key] === null)) holder[key] = {}
  if (rest.length === 0) holder[key] = value
  else put(holder[key]!, rest, value)
}

function nextOf(mock: Json | undefined, tool: string, used: Map<string, number>): Json | undefined {
  if (!Array.isArray(mock)) return mock
  const index = used.get(tool) ?? 0
  used.set(tool, index + 1)
  return mock[Math.min(index, mock.length - 1)]
}

/**
 * `{ error }` is a failure where it is in words; `{ error: true }` is a value that some tool gives.
 */
function resultOf(mock: Json, call: CallFacts): Result {
  const isFailure =
    isObject(mock) && Object.keys(mock).length === 1 && (typeof mock.error === 'string' || isObject(mock.error))
  if (!isFailure) return { ok: true, value: mock }
  const { code, message } = isObject(mock.error) ? mock.error : { code: undefined, message: mock.error }
  const named = isErrorCode(code) ? code : 'TOOL_ERROR'
  return { ok: false, error: new AppError(named, String(message ?? 'A mocked error'), { tool: call.tool } as never) }
}

/**
 * What the newest runs got, by tool and by the digest of what was really sent: arguments that a
 * human put in place of the program's count, not those. Values stay as they are recorded until one
 * of them is wanted.
 */
function recordedResults(store: Store): Map<string, Stored<unknown> | null> {
  const results = new Map<string, Stored<unknown> | null>()
  for (const { run } of store.runs({ limit: limits.recordedRunsMax }).reverse()) {
    const asked = new Map<string, { tool: string; args: Stored<unknown> }>()
    for (const { type, body } of store.events(run)) {
      if (type === 'call.issued') asked.set(body.call, { tool: body.tool, args: body.args })
      if (type === 'call.sent' && body.args !== undefined) asked.get(body.call)!.args = body.args
      if (type !== 'call.resolved' || !body.ok || body.by !== 'upstream') continue
      const { tool, args } = asked.get(body.call)!
      results.set(`${tool} ${sha256(store.text(args))}`, body.value ?? null)
    }
  }
  return results
}
