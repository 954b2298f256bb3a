/** A program of the model, driven over a box: turns are read strictly, because what stands in the box is not trusted. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import {
  AppError,
  type Delivery,
  type ErrorContext,
  type ErrorData,
  isErrorCode,
  isObject,
  type LogLine,
  limits,
  type Program,
  type ProgramEnd,
  type Turn,
} from '#model'
import type { Box } from './box.ts'
import type { BootMessage, Message } from './inside/child.ts'
import type { MachineLimits } from './inside/machine.ts'

export type ProgramOptions = {
  source: string
  args: string
  seed: string
  now: number
  limits?: Partial<MachineLimits & { turnWallMsMax: number }>
}

const usualLimits: MachineLimits = {
  memoryBytesMax: limits.programMemoryBytesMax,
  stackBytesMax: limits.programStackBytesMax,
  ticksPerTurnMax: limits.programTicksPerTurnMax,
}

/** What the child is told first: the bounds that it and its guest keep. */
export function bootMessage(): { boot: BootMessage } {
  const guest = {
    callsInFlightMax: limits.callsInFlightMax,
    callArgumentsBytesMax: limits.callArgumentsBytesMax,
    timersMax: limits.programTimersMax,
    timerMsMax: limits.timerMsMax,
    logLinesMax: limits.programLogLinesMax,
    logLineMax: limits.programLogLineBytesMax,
    errorTextMax: limits.programErrorCharactersMax,
  }
  // Twice the engine's own limit: the memory must hold the old and the new while something large is moved.
  return { boot: { engineBytesMax: 2 * limits.programMemoryBytesMax, guest, machine: usualLimits } }
}

/** `release` is called once, with whether the box may serve another program. */
export function driveProgram(box: Box, options: ProgramOptions, release: (clean: boolean) => void): Program {
  const { turnWallMsMax = limits.programTurnWallMsMax, ...machine } = options.limits ?? {}
  const open = new Set<number>()
  let issued = 0
  let state: 'new' | 'running' | 'over' = 'new'

  function finish(clean: boolean): void {
    if (state === 'over') return
    state = 'over'
    release(clean)
  }

  async function ask(message: Message): Promise<Turn> {
    const watchdog = setTimeout(() => box.kill(timeout(turnWallMsMax)), turnWallMsMax)
    try {
      const turn = readTurn(await box.ask(JSON.stringify(message)))
      for (const _ of turn.calls) open.add(++issued)
      if (turn.end) finish(!(turn.end.ok === false && turn.end.error.code.startsWith('SANDBOX_')))
      return turn
    } catch (thrown) {
      finish(false)
      throw thrown
    } finally {
      clearTimeout(watchdog)
    }
  }

  return {
    async start() {
      assert(state === 'new', 'a program is started once')
      state = 'running'
      const { source, args, now } = options
      const start = { source, args, now, chance: chanceOf(options.seed), limits: { ...usualLimits, ...machine } }
      return ask({ start })
    },
    async deliver({ call, ok, text, now }: Delivery) {
      if (state === 'over' && box.alive) return { calls: [], logs: [] }
      assert(state !== 'new', 'a program is started before anything is delivered to it')
      assert(open.delete(call), `call ${call} is open until its one result is delivered`)
      return ask({ deliver: { call, ok, text, now } })
    },
    drop() {
      if (state === 'over') return
      box.kill(new AppError('CANCELLED', 'Cannot continue the program: its box was dropped'))
      finish(false)
    },
  }
}

/** Four words for the guest's dice: the seed itself never enters the box. */
function chanceOf(seed: string): number[] {
  const digest = createHash('sha256').update('metier/program-chance\0').update(seed).digest()
  return [0, 4, 8, 12].map((at) => digest.readInt32LE(at))
}

function timeout(ms: number): AppError {
  const message = `Cannot continue the program: a turn took more than ${ms} ms; make it do less between two calls`
  return new AppError('SANDBOX_TIMEOUT', message, { limit: 'wall', ms })
}

function readTurn(line: string): Turn {
  try {
    const { calls, logs, end } = JSON.parse(line)
    const turn: Turn = { calls: calls.map(readCall), logs: logs.map(readLog) }
    return end === undefined ? turn : { ...turn, end: readEnd(end) }
  } catch (thrown) {
    const message = 'Cannot continue the program: its box gave an answer that makes no sense; run it again'
    throw new AppError('SANDBOX_EXECUTION_FAILED', message, {}, thrown)
  }
}

function readCall([tool, args]: unknown[]): { tool: string; args: string } {
  assert(typeof tool === 'string' && typeof args === 'string')
  return { tool, args }
}

const levels = ['log', 'info', 'warn', 'error', 'debug']

function readLog([level, text]: unknown[]): LogLine {
  assert(typeof level === 'string' && levels.includes(level) && typeof text === 'string')
  return { level: level as LogLine['level'], text }
}

function readEnd(end: unknown): ProgramEnd {
  assert(isObject(end))
  if (end.ok === true) {
    assert(typeof end.value === 'string')
    return valueEnd(end.value)
  }
  if (typeof end.limit === 'string') return failed(limitReached(end.limit))
  if (typeof end.unsayable === 'string') return failed(unsayable(end.unsayable))
  if (isObject(end.error)) return failed(toolFailure(end.error))
  assert(typeof end.thrown === 'string' && typeof end.stack === 'string')
  return failed(programFailure(end.thrown, end.stack))
}

const failed = (error: AppError): ProgramEnd => ({ ok: false, error: error.toJSON() })

function valueEnd(value: string): ProgramEnd {
  const bytes = Buffer.byteLength(value)
  if (bytes <= limits.resultBytesMax) return { ok: true, value }
  const message = `Cannot return ${bytes} bytes: a program returns at most ${limits.resultBytesMax}; return less`
  return failed(new AppError('RESULT_TOO_LARGE', message, { bytes }))
}

const sayLimit: Record<string, string> = {
  memory: `it ran out of memory (${limits.programMemoryBytesMax / 1024 / 1024} MB); hold less at a time`,
  stack: 'it ran out of stack; recurse less deeply',
  ticks: 'it computed for too long between two calls; do less at a time',
}

function limitReached(limit: string): AppError {
  const message = `Cannot finish the program: ${sayLimit[limit] ?? `it reached the limit of ${limit}`}`
  return new AppError('SANDBOX_RESOURCE_LIMIT', message, { limit })
}

function unsayable(why: string): AppError {
  const message = `Cannot return the program's value: JSON cannot say it (${why}); return plain data`
  return new AppError('PROGRAM_ERROR', message, { details: why })
}

/** A tool's error that nobody caught is the run's own, and names the tool. */
function toolFailure({ tool, data }: Record<string, unknown>): AppError {
  assert(typeof tool === 'string' && isObject(data))
  const { code, message, context } = data as unknown as ErrorData
  assert(isErrorCode(code) && typeof message === 'string')
  return new AppError(code, message, { ...(isObject(context) ? context : {}), tool } as never)
}

/** Frames of the program, in the user's own lines; the wrapper stands one line above them. */
function programFailure(thrown: string, stack: string): AppError {
  const frames = [...stack.matchAll(/^ +at (.*?) ?\(?program:(\d+):(\d+)\)?$/gm)]
  const lines = frames.map(([, name, line, column]) => `at ${name || 'program'} (${Number(line) - 1}:${column})`)
  const context: ErrorContext = { stack: lines.join('\n') }
  const [, , line, column] = frames[0] ?? []
  if (line !== undefined) Object.assign(context, { line: Number(line) - 1, column: Number(column) })
  const where = line === undefined ? '' : ` (line ${context.line}, column ${context.column})`
  return new AppError('PROGRAM_ERROR', `Cannot finish the program: ${thrown}${where}`, context)
}
