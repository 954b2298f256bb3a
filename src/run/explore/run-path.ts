/**
 * Runs a plan once along one path: its calls get assumed results instead of real ones, and the
 * instrumented program logs which arms of its branches it takes.
 */
import {
  AppError,
  type Delivery,
  type ErrorData,
  type IssuedCall,
  type Json,
  limits,
  type NestedSource,
  type Program,
  type ProgramEnd,
  type Turn,
  timerTool,
  toAppError,
  toText,
} from '#model'
import { readMark } from '#run/structure'

/** What differs on one path from every other: the arguments, and the results of calls by id. */
export type Assumptions = { args: Json; calls: ReadonlyMap<string, AssumedResult> }
export type AssumedResult = { value: Json } | { failure: string }

/** `program` is the id of the program that issued it, `code` the program that runs as this call. */
export type PathCall = {
  id: string
  program: string
  tool: string
  args: Json
  task?: string
  code?: string
  value: Json | undefined
}
/** In the order in which they happened; the calls of one turn are one step. */
export type PathStep = { arm: { program: string; id: string; arm: string } } | { calls: PathCall[] }
export type PathRun = { steps: PathStep[]; calls: PathCall[]; end: ProgramEnd }

export type PathResult = { ok: true; value: Json } | { ok: false; error: ErrorData }

/** A tool call of a path: `now` is the program's time, `callCount` how many the path has issued. */
export type ToolCall = { id: string; issued: IssuedCall; now: number; callCount: number }

export type PathWorld = {
  now: number
  signal: AbortSignal
  /** The id of a program's nth call. */
  callId(program: string, number: number): string
  /** A program of the plan: the run's own, or one that runs as a call. */
  open(path: string, source: NestedSource | null, args: string): Promise<Program>
  /** Opened once for each path, since a list of mocks is used up along it. */
  openResults(assumed: Assumptions): (call: ToolCall) => Promise<PathResult>
}

type PathState = Omit<PathRun, 'end'> & {
  world: PathWorld
  now: number
  resultOf: ReturnType<PathWorld['openResults']>
}

export async function runPath(world: PathWorld, assumed: Assumptions): Promise<PathRun> {
  const state: PathState = { steps: [], calls: [], world, now: world.now, resultOf: world.openResults(assumed) }
  const end = await runProgram(state, '', null, toText(assumed.args))
  return { steps: state.steps, calls: state.calls, end }
}

type WaitingCall = { number: number; issued: IssuedCall; call: PathCall }

/** The calls of a program are answered one at a time, in the order in which it issued them. */
async function runProgram(
  state: PathState,
  path: string,
  source: NestedSource | null,
  args: string,
): Promise<ProgramEnd> {
  const waiting: WaitingCall[] = []
  let number = 0
  let program: Program | null = null
  const take = (turn: Turn): ProgramEnd | undefined => {
    const issued = turn.calls.map((call): WaitingCall => {
      number += 1
      return { number, issued: call, call: pathCall(path, state.world.callId(path, number), call) }
    })
    noteTurn(state, path, turn, issued)
    waiting.push(...issued)
    return turn.end
  }
  try {
    program = await state.world.open(path, source, args)
    let end = take(await program.start())
    for (let next = waiting.shift(); end === undefined && next !== undefined; next = waiting.shift()) {
      end = take(await program.deliver(await deliveryFor(state, next)))
    }
    return end ?? failed(new AppError('PROGRAM_STALLED', 'Cannot go on with the program: it waits for nothing', {}))
  } catch (error) {
    return failed(toAppError(error))
  } finally {
    program?.drop()
  }
}

function noteTurn({ steps, calls }: PathState, program: string, { logs }: Turn, issued: WaitingCall[]): void {
  for (const { text } of logs) {
    const arm = readMark(text)
    if (arm !== null) steps.push({ arm: { program, ...arm } })
  }
  const made = issued.filter((waiting) => !isTimer(waiting.issued)).map(({ call }) => call)
  if (made.length > 0) steps.push({ calls: made })
  calls.push(...made)
}

const failed = (error: AppError): ProgramEnd => ({ ok: false, error: error.toJSON() })

function isTimer({ tool, refused }: IssuedCall): boolean {
  return tool === timerTool && refused === undefined
}

function pathCall(program: string, id: string, { tool, args, task, code }: IssuedCall): PathCall {
  const more = { ...(task === undefined ? {} : { task }), ...(code === undefined ? {} : { code }) }
  return { id, program, tool, args: JSON.parse(args) as Json, ...more, value: undefined }
}

async function deliveryFor(state: PathState, { number, issued, call }: WaitingCall): Promise<Delivery> {
  const result = await resultOf(state, issued, call)
  const { now } = state
  if (!result.ok) return { call: number, ok: false, text: toText(result.error), now }
  call.value = result.value
  return { call: number, ok: true, text: toText(result.value), now }
}

async function resultOf(state: PathState, issued: IssuedCall, { id }: PathCall): Promise<PathResult> {
  state.world.signal.throwIfAborted()
  if (state.calls.length > limits.explorePathCallsMax) {
    const message = `Cannot go on with this path: it has more than ${limits.explorePathCallsMax} calls`
    throw new AppError('BUDGET_EXCEEDED', message, {})
  }
  if (isTimer(issued)) {
    state.now += (JSON.parse(issued.args) as { ms?: number }).ms ?? 0
    return { ok: true, value: null }
  }
  const nested = issued.code ?? issued.tasks
  if (nested === undefined) {
    return state.resultOf({ id, issued, now: state.now, callCount: state.calls.length })
  }
  const end = await runProgram(state, id, nested, issued.args)
  return end.ok ? { ok: true, value: JSON.parse(end.value) as Json } : end
}
