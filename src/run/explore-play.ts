/** One path through a plan: the program runs with results that nobody gave, and says which arms it took. */
import type { Catalog } from '#catalog'
import {
  AppError,
  type Budget,
  type Delivery,
  type IssuedCall,
  type Json,
  limits,
  type Program,
  type ProgramEnd,
  type Turn,
  toAppError,
  toText,
} from '#model'
import { endResult, fresh, isTimer, type OpenCall, type Result, refusalOf, verdictOn } from './call.ts'
import { effectOf } from './call-effect.ts'
import { denied } from './human.ts'
import type { Pretend } from './mocks.ts'
import { idOf } from './place.ts'
import type { RunPolicy } from './standing.ts'
import { readMark } from './structure/structure.ts'

/** What a path assumes beyond what every path has: other arguments, and other results by call. */
export type Assumed = { args: Json; calls: ReadonlyMap<string, Answer> }
export type Answer = { value: Json } | { failure: string }

/** `program` is the one that made it, `code` the one that it is. */
export type MadeCall = {
  id: string
  program: string
  tool: string
  args: Json
  task?: string
  code?: string
  value: Json | undefined
}
/** In the order in which they happened; calls of one turn go together. */
export type Step = { arm: { program: string; id: string; arm: string } } | { calls: MadeCall[] }
export type Played = { steps: Step[]; calls: MadeCall[]; end: ProgramEnd }

export type Stage = {
  catalog: Pick<Catalog, 'tool' | 'near' | 'problemOf' | 'problemOfServer'>
  policy: RunPolicy
  budget: Budget
  /** For one path: a list of mocks is used up along it. */
  pretending(): Pretend
  now: number
  signal: AbortSignal
  /** A program of the plan: the run's own, or one that runs as a call. */
  open(path: string, code: string | null, args: string): Promise<Program>
}

export async function play(stage: Stage, assumed: Assumed): Promise<Played> {
  const played: Played = { steps: [], calls: [], end: { ok: true, value: 'null' } }
  const end = await playProgram(
    { stage, assumed, played, now: stage.now, pretend: stage.pretending() },
    '',
    null,
    toText(assumed.args),
  )
  return { ...played, end }
}

type Playing = { stage: Stage; assumed: Assumed; played: Played; now: number; pretend: Pretend }

async function playProgram(playing: Playing, path: string, code: string | null, args: string): Promise<ProgramEnd> {
  const { stage, played } = playing
  const open: { number: number; issued: IssuedCall; made: MadeCall }[] = []
  let number = 0
  let program: Program | null = null
  const take = ({ calls, logs, end }: Turn): ProgramEnd | undefined => {
    for (const { text } of logs) {
      const arm = readMark(text)
      if (arm !== null) played.steps.push({ arm: { program: path, ...arm } })
    }
    const first = open.length
    for (const issued of calls) {
      number += 1
      open.push({ number, issued, made: madeCall(path, idOf({ program: path, number }), issued) })
    }
    const made = open.slice(first).filter(({ issued }) => !isTimer(issued))
    if (made.length > 0) played.steps.push({ calls: made.map((call) => call.made) })
    played.calls.push(...made.map((call) => call.made))
    return end
  }
  try {
    program = await stage.open(path, code, args)
    let end = take(await program.start())
    for (let next = open.shift(); end === undefined && next !== undefined; next = open.shift()) {
      end = take(await program.deliver(await answered(playing, next)))
    }
    return end ?? failed(new AppError('PROGRAM_STALLED', 'Cannot go on with the program: it waits for nothing', {}))
  } catch (error) {
    return failed(toAppError(error))
  } finally {
    program?.drop()
  }
}

const failed = (error: AppError): ProgramEnd => ({ ok: false, error: error.toJSON() })

type OpenMade = { number: number; issued: IssuedCall; made: MadeCall }

function madeCall(program: string, id: string, { tool, args, task, code }: IssuedCall): MadeCall {
  const more = { ...(task === undefined ? {} : { task }), ...(code === undefined ? {} : { code }) }
  return { id, program, tool, args: JSON.parse(args) as Json, ...more, value: undefined }
}

async function answered(playing: Playing, { number, issued, made }: OpenMade): Promise<Delivery> {
  const result = await resultOf(playing, issued, made)
  const { now } = playing
  if (!result.ok) return { call: number, ok: false, text: toText(result.error.toJSON()), now }
  made.value = result.value
  return { call: number, ok: true, text: toText(result.value), now }
}

async function resultOf(playing: Playing, issued: IssuedCall, { id }: MadeCall): Promise<Result> {
  const { played, stage } = playing
  stage.signal.throwIfAborted()
  if (played.calls.length > limits.explorePathCallsMax) {
    const message = `Cannot go on with this path: it has more than ${limits.explorePathCallsMax} calls`
    throw new AppError('BUDGET_EXCEEDED', message, {})
  }
  if (isTimer(issued)) {
    playing.now += (JSON.parse(issued.args) as { ms?: number }).ms ?? 0
    return { ok: true, value: null }
  }
  if (issued.code === undefined) return pretended(playing, id, issued)
  return endResult(await playProgram(playing, id, issued.code, issued.args))
}

/** As in a dry run: what would be refused is, and everything else is assumed or made up. */
async function pretended(
  { stage, assumed, played, now, pretend }: Playing,
  id: string,
  issued: IssuedCall,
): Promise<Result> {
  const { catalog, policy, budget } = stage
  const definition = (await catalog.tool(issued.tool)) ?? null
  const call: OpenCall = { ...issued, ...fresh(id, now), definition, effect: effectOf(definition, issued) }
  const refusal = refusalOf(
    call,
    { budget, catalog },
    { calls: played.calls.length, bytes: 0, tokens: 0, cost: 0, wallMs: 0 },
  )
  if (refusal !== null) return { ok: false, error: refusal }
  const verdict = verdictOn(call, policy)
  if (verdict.then === 'deny') return { ok: false, error: denied(call, verdict) }
  const answer = assumed.calls.get(id)
  if (answer === undefined) return pretend(call).result
  if ('value' in answer) return { ok: true, value: answer.value }
  return { ok: false, error: new AppError('TOOL_ERROR', answer.failure, { tool: call.tool }) }
}
