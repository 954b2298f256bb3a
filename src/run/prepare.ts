/** A plan found fit to run, and the program that it becomes; what cannot run is refused here, before anything does. */
import { type EventBodies, type IsolationReport, type Plan, type Program, toText } from '#model'
import { type Boxes, prepareProgram } from '#sandbox'
import { digestOf } from './call.ts'
import { checkDag } from './check-dag.ts'
import { codeOf, dagProgram } from './dag.ts'
import type { Journal } from './journal.ts'

type EngineDigest = EventBodies['run.started']['engine']

/** Its box is made when the run has a place in the record. */
export type Prepared = {
  kind: Plan['kind']
  source: unknown
  digest: string
  engine: EngineDigest
  isolation: IsolationReport | null
  program(args: string, seed: string, now: number): Promise<Program>
}

const dagEngine: EngineDigest = { name: 'dag', version: '1', digest: digestOf('dag 1') }

export async function prepare(plan: Plan, boxes: Boxes): Promise<Prepared> {
  if (plan.kind === 'dag') {
    const tasks = checkDag(plan.tasks)
    const codes = tasks.flatMap((task) => codeOf(task) ?? []).map(prepareProgram)
    const [engine, isolation] = codes.length === 0 ? [dagEngine, null] : await boxOf(boxes)
    const program = async () => dagProgram(tasks)
    return { kind: 'dag', source: tasks, digest: digestOf(toText(tasks)), engine, isolation, program }
  }
  const { source, digest } = prepareProgram(plan.code)
  const [engine, isolation] = await boxOf(boxes)
  const program = (args: string, seed: string, now: number) => boxes.program({ source, args, seed, now })
  return { kind: 'code', source: plan.code, digest, engine, isolation, program }
}

function boxOf(boxes: Boxes): Promise<[EngineDigest, IsolationReport]> {
  return Promise.all([boxes.engine(), boxes.isolation()])
}

export function preparedFor({ started: { plan } }: Journal, boxes: Boxes): Promise<Prepared> {
  return prepare({ kind: plan.kind, ...sourceOf(plan) } as Plan, boxes)
}

export async function programOf(journal: Journal, boxes: Boxes): Promise<Program> {
  const { args, seed } = journal.started
  return (await preparedFor(journal, boxes)).program(toText(args), seed, journal.startedAt)
}

function sourceOf(plan: EventBodies['run.started']['plan']) {
  return plan.kind === 'code' ? { code: plan.source } : { tasks: plan.source }
}

/** A box that cannot be had fails the run, on the record. */
export async function boxed(make: () => Promise<Program>): Promise<Program> {
  try {
    return await make()
  } catch (error) {
    return { start: () => Promise.reject(error), deliver: () => Promise.reject(error), drop: () => {} }
  }
}
