/**
 * A turn as the box wrote it, read strictly: a program that broke out of the engine could write
 * anything there.
 */
import {
  AppError,
  assert,
  type ErrorContext,
  type IssuedCall,
  isErrorCode,
  isObject,
  isTextDeeper,
  type LogLine,
  limits,
  operationOf,
  type ProgramEnd,
  type Turn,
} from '#model'

/** `clean` is false where the engine itself ended: its process serves no other program. */
type ReadTurn = { turn: Turn; clean: boolean }

const callsPerTurnMax = limits.callsInFlightMax + limits.programCallsWaitingMax + limits.programTimersMax

export function readTurn(line: string): ReadTurn {
  try {
    const { calls, logs, end, traced, untraced } = JSON.parse(line)
    assert(Array.isArray(calls) && calls.length <= callsPerTurnMax)
    assert(Array.isArray(logs) && logs.length <= limits.programLogLinesMax)
    const noted = traced === undefined ? {} : { traced: readTraced(traced, untraced) }
    const turn: Turn = { calls: calls.map(readCall), logs: logs.map(readLog), ...noted }
    if (end === undefined) return { turn, clean: true }
    return { turn: { ...turn, end: readEnd(end) }, clean: end.limit === undefined && end.broken === undefined }
  } catch (thrown) {
    const message = 'Cannot continue the program: its box gave an answer that makes no sense; run it again'
    throw new AppError('SANDBOX_EXECUTION_FAILED', message, {}, thrown)
  }
}

function readCall([tool, args, refused]: unknown[]): IssuedCall {
  assert(typeof tool === 'string' && typeof args === 'string')
  assert(
    refused === undefined || (typeof refused === 'string' && refused.length <= 2 * limits.programErrorCharactersMax),
  )
  assert(tool.length <= limits.toolIdCharactersMax && Buffer.byteLength(args) <= limits.callArgumentsBytesMax)
  if (isTextDeeper(args, limits.programDepthMax)) return { tool, args: 'null', refused: `the arguments are ${tooDeep}` }
  assertJson(args)
  return { tool, args, ...(refused === undefined ? {} : { refused }) }
}

const tooDeep = `nested more deeply than ${limits.programDepthMax} levels`

/** It goes into the record as it stands: nothing but one JSON value on one line may. */
function assertJson(text: string): void {
  JSON.parse(text)
  assert(!text.includes('\n') && !text.includes('\r') && !text.includes('\t'))
}

function readTraced(names: unknown, dropped: unknown): Turn['traced'] & {} {
  assert(Array.isArray(names) && names.length <= limits.tracedOperationsMax && Number.isSafeInteger(dropped))
  const operations = names.map((name) => `code:${name}`)
  assert(operations.every((id) => operationOf(id) !== undefined))
  return { operations, dropped: Number(dropped) }
}

const levels = ['log', 'info', 'warn', 'error', 'debug']

function readLog([level, text]: unknown[]): LogLine {
  assert(typeof level === 'string' && levels.includes(level) && typeof text === 'string')
  const bytes = Buffer.from(text)
  const max = limits.programLogLineBytesMax
  const shown = bytes.length <= max ? text : new TextDecoder().decode(bytes.subarray(0, max), { stream: true })
  return { level: level as LogLine['level'], text: shown }
}

function readEnd(end: unknown): ProgramEnd {
  assert(isObject(end))
  if (end.ok !== true) return { ok: false, error: errorOf(end).toJSON() }
  assert(typeof end.value === 'string')
  if (isTextDeeper(end.value, limits.programDepthMax)) return { ok: false, error: resultTooDeep().toJSON() }
  assertJson(end.value)
  const bytes = Buffer.byteLength(end.value)
  return bytes <= limits.resultBytesMax
    ? { ok: true, value: end.value }
    : { ok: false, error: tooLarge(bytes).toJSON() }
}

function errorOf({ limit, broken, unsayable, error, thrown, stack }: Record<string, unknown>): AppError {
  if (typeof limit === 'string') return limitReached(limit)
  if (typeof broken === 'string') return engineBroke(broken)
  if (typeof unsayable === 'string') return valueUnsayable(unsayable)
  if (isObject(error)) return toolFailure(error)
  assert(typeof thrown === 'string' && typeof stack === 'string')
  return programFailure(thrown, stack)
}

function resultTooDeep(): AppError {
  const message = `Cannot return the program's value: it is ${tooDeep}; return it flatter`
  return new AppError('RESULT_TOO_LARGE', message, { depthMax: limits.programDepthMax })
}

function tooLarge(bytes: number): AppError {
  const message = `Cannot return ${bytes} bytes: a program returns at most ${limits.resultBytesMax}; return less`
  return new AppError('RESULT_TOO_LARGE', message, { bytes })
}

const sayLimit: Record<string, string> = {
  memory: 'it ran out of memory; hold less at a time',
  stack: 'it ran out of stack; recurse less deeply',
  ticks: 'it computed for too long between two calls; do less at a time',
  time: 'it computed for too long between two calls; do less at a time',
}

export function outOfMemory(): ProgramEnd {
  return { ok: false, error: limitReached('memory').toJSON() }
}

function limitReached(limit: string): AppError {
  const why = sayLimit[limit]
  assert(why !== undefined)
  return new AppError('SANDBOX_RESOURCE_LIMIT', `Cannot finish the program: ${why}`, { limit })
}

function engineBroke(details: string): AppError {
  const message = `Cannot continue the program: its engine broke (${details}); run it again`
  return new AppError('SANDBOX_EXECUTION_FAILED', message, { details })
}

function valueUnsayable(details: string): AppError {
  const message = `Cannot return the program's value: JSON cannot say it (${details}); return plain data`
  return new AppError('PROGRAM_ERROR', message, { details })
}

/** An uncaught error of a tool is the run's own, and names the tool. */
function toolFailure({ tool, data }: Record<string, unknown>): AppError {
  assert(typeof tool === 'string' && isObject(data))
  const { code, message, context } = data
  assert(isErrorCode(code) && typeof message === 'string')
  return new AppError(code, message, { ...(isObject(context) ? context : {}), tool } as never)
}

/** Frames of the program, in the user's own lines; the wrapper stands one line above them. */
function programFailure(thrown: string, stack: string): AppError {
  const frames = [...stack.matchAll(/^ +at (.*?) ?\(?program:(\d+):(\d+)\)?$/gm)]
  const shown = frames.map(([, name, line, column]) => `at ${name || 'program'} (${Number(line) - 1}:${column})`)
  const context: ErrorContext = { stack: shown.join('\n') }
  const first = frames[0]
  if (first === undefined) return new AppError('PROGRAM_ERROR', `Cannot finish the program: ${thrown}`, context)
  const [line, column] = [Number(first[2]) - 1, Number(first[3])]
  const message = `Cannot finish the program: ${thrown} (line ${line}, column ${column})`
  return new AppError('PROGRAM_ERROR', message, { line, column, ...context })
}
