/**
 * A plan found fit to run, and the program that it becomes; what cannot run is refused here, before
 * anything does.
 */
import {
  AppError,
  type EventBodies,
  type IsolationReport,
  type JsonObject,
  LruCache,
  limits,
  type Plan,
  type Program,
  type ProgramMaker,
  sha256,
  toText,
} from '#model'
import { checkDag, codeOf, dagProgram } from '#run/dag'
import type { Journal } from '#run/record'
import { type Boxes, type PreparedProgram, prepareProgram } from '#sandbox'

type EngineDigest = EventBodies['run.started']['engine']

export type Prepared = {
  kind: Plan['kind']
  source: unknown
  digest: string
  engine: EngineDigest
  isolation: IsolationReport | null
  program: { kind: 'made'; make(): Program } | { kind: 'code'; source: string }
}

const dagEngine: EngineDigest = { name: 'dag', version: '1', digest: sha256('dag 1') }

const ready = new LruCache<string, PreparedProgram>(limits.programsReadyMax)

/**
 * Reading a program costs as much as ten of its calls, and the same ones come again: those used
 * last are kept.
 */
export function preparedCached(code: string): PreparedProgram {
  const prepared = ready.get(code) ?? prepareProgram(code)
  ready.set(code, prepared)
  return prepared
}

/** Programs that another folder makes, by the kind of their plan. */
export type Makers = { agent?: ProgramMaker }

export async function prepare(plan: Plan, boxes: Boxes, makers: Makers = {}): Promise<Prepared> {
  if (plan.kind === 'agent') return prepareSession(plan.agent, makers.agent)
  if (plan.kind === 'dag') {
    const tasks = checkDag(plan.tasks)
    const codes = tasks.flatMap((task) => codeOf(task) ?? []).map(preparedCached)
    const [engine, isolation] = codes.length === 0 ? [dagEngine, null] : await boxOf(boxes)
    const program = { kind: 'made', make: () => dagProgram(tasks) } as const
    return { kind: 'dag', source: tasks, digest: sha256(toText(tasks)), engine, isolation, program }
  }
  const { source, digest } = preparedCached(plan.code)
  const [engine, isolation] = await boxOf(boxes)
  return { kind: 'code', source: plan.code, digest, engine, isolation, program: { kind: 'code', source } }
}

function prepareSession(source: JsonObject, maker: ProgramMaker | undefined): Prepared {
  if (maker === undefined) {
    const message =
      'Cannot go on with an agent\'s session here: this process only serves tools; use "metier agent resume"'
    throw new AppError('PLAN_INVALID', message, { problems: [message] })
  }
  const { version } = maker
  const engine = { name: 'agent', version, digest: sha256(`agent ${version}`) }
  maker.make(source)
  const program = { kind: 'made', make: () => maker.make(source) } as const
  return { kind: 'agent', source, digest: sha256(toText(source)), engine, isolation: null, program }
}

function boxOf(boxes: Boxes): Promise<[EngineDigest, IsolationReport]> {
  return Promise.all([boxes.engine(), boxes.isolation()])
}

/**
 * Another engine than the run started with may make another program of it: that is said, and the
 * comparison decides.
 */
export async function preparedFor({ started }: Journal, boxes: Boxes, makers: Makers = {}): Promise<Prepared> {
  const { plan, engine: before } = started
  const prepared = await prepare({ kind: plan.kind, ...sourceOf(plan) } as Plan, boxes, makers)
  const { engine, isolation } = prepared
  if (isolation === null || engine.digest === before.digest) return prepared
  const named = ({ name, version, digest }: EngineDigest) => `${name} ${version} (${digest.slice(0, 12)})`
  const change = `the run started with ${named(before)} and goes on with ${named(engine)}: what it does is compared with the record`
  return { ...prepared, isolation: { ...isolation, degraded: [...isolation.degraded, change] } }
}

function sourceOf(plan: EventBodies['run.started']['plan']) {
  const members = { code: 'code', dag: 'tasks', agent: 'agent' } as const
  return { [members[plan.kind]]: plan.source }
}
