/** A plan found fit to run, and the program that it becomes; what cannot run is refused here, before anything does. */
import { type EventBodies, type IsolationReport, limits, type Plan, type Program, toText } from '#model'
import { type Boxes, type PreparedProgram, prepareProgram } from '#sandbox'
import { checkDag } from './check-dag.ts'
import { codeOf, dagProgram } from './dag.ts'
import { digestOf } from './digest.ts'
import type { Journal } from './journal.ts'

type EngineDigest = EventBodies['run.started']['engine']

export type Prepared = {
  kind: Plan['kind']
  source: unknown
  digest: string
  engine: EngineDigest
  isolation: IsolationReport | null
  program: { kind: 'graph'; make(): Program } | { kind: 'code'; source: string }
}

const dagEngine: EngineDigest = { name: 'dag', version: '1', digest: digestOf('dag 1') }

const ready = new Map<string, PreparedProgram>()

/** Reading a program costs as much as ten of its calls, and the same ones come again: those used last are kept. */
export function readyProgram(code: string): PreparedProgram {
  const prepared = ready.get(code) ?? prepareProgram(code)
  ready.delete(code)
  ready.set(code, prepared)
  if (ready.size > limits.programsReadyMax) ready.delete(ready.keys().next().value!)
  return prepared
}

export async function prepare(plan: Plan, boxes: Boxes): Promise<Prepared> {
  if (plan.kind === 'dag') {
    const tasks = checkDag(plan.tasks)
    const codes = tasks.flatMap((task) => codeOf(task) ?? []).map(readyProgram)
    const [engine, isolation] = codes.length === 0 ? [dagEngine, null] : await boxOf(boxes)
    const program = { kind: 'graph', make: () => dagProgram(tasks) } as const
    return { kind: 'dag', source: tasks, digest: digestOf(toText(tasks)), engine, isolation, program }
  }
  const { source, digest } = readyProgram(plan.code)
  const [engine, isolation] = await boxOf(boxes)
  return { kind: 'code', source: plan.code, digest, engine, isolation, program: { kind: 'code', source } }
}

function boxOf(boxes: Boxes): Promise<[EngineDigest, IsolationReport]> {
  return Promise.all([boxes.engine(), boxes.isolation()])
}

/** Another engine than the run started with may make another program of it: that is said, and the comparison decides. */
export async function preparedFor({ started }: Journal, boxes: Boxes): Promise<Prepared> {
  const { plan, engine: before } = started
  const prepared = await prepare({ kind: plan.kind, ...sourceOf(plan) } as Plan, boxes)
  const { engine, isolation } = prepared
  if (isolation === null || engine.digest === before.digest) return prepared
  const named = ({ name, version, digest }: EngineDigest) => `${name} ${version} (${digest.slice(0, 12)})`
  const change = `the run started with ${named(before)} and goes on with ${named(engine)}: what it does is compared with the record`
  return { ...prepared, isolation: { ...isolation, degraded: [...isolation.degraded, change] } }
}

function sourceOf(plan: EventBodies['run.started']['plan']) {
  return plan.kind === 'code' ? { code: plan.source } : { tasks: plan.source }
}
