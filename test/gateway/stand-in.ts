/**
 * A small, honest set of verbs in memory, for the tests of the gateway; started with --stdio it
 * serves them to a host.
 */
import { setTimeout } from 'node:timers/promises'
import { serveStdio } from '#gateway'
import { AppError, isObject, type JsonObject, newId } from '#model'
import type { Caller, Verbs } from '#verbs'

type Run = { run: string; status: string; key: string | null; answer: JsonObject; over: Promise<void> }

export type StandIn = Verbs & { callers: Caller[]; append(run: string, type: string, body: object): void }

/** Asked as the verbs are; what it answers is told by what it is asked for, not by a type. */
type Loose<Verbs> = {
  [Name in keyof Verbs]?: Verbs[Name] extends (...args: infer Args) => unknown
    ? (...args: Args) => unknown
    : Verbs[Name]
}

const catalogue = [
  { type: 'tool', id: 'demo:echo', description: 'echo what it is given', score: 1 },
  { type: 'tool', id: 'demo:wait', description: 'wait for a while', score: 1 },
]

/**
 * execute returns its `args`, after `args.waitMs`; `args.fail` fails the run, `args.answer` adds to
 * the answer.
 */
export function standIn(): StandIn {
  const runs = new Map<string, Run>()
  const events: { seq: number; line: string }[] = []
  const listeners = new Set<() => void>()
  const callers: Caller[] = []

  const append: StandIn['append'] = (run, type, body) => {
    const n = events.filter(({ line }) => line.startsWith(`{"run":"${run}"`)).length + 1
    events.push({ seq: events.length + 1, line: JSON.stringify({ run, n, at: new Date().toISOString(), type, body }) })
    for (const listener of listeners) listener()
  }
  const find = (id: unknown): Run => {
    const run = runs.get(String(id))
    if (!run) throw new AppError('RUN_NOT_FOUND', `Cannot find run "${id}": there is no such run`, { run: id })
    return run
  }
  const finish = async (run: Run, args: Record<string, unknown>, signal: AbortSignal | undefined) => {
    const waited = setTimeout(Number(args.waitMs ?? 0), null, signal && { signal })
    run.status = await waited.then(
      () => (args.fail ? 'failed' : 'done'),
      () => 'cancelled',
    )
    const error = { code: 'PROGRAM_ERROR', message: 'Cannot finish: told to fail', context: {}, fate: 'correct' }
    const outcome: JsonObject = run.status === 'failed' ? { error } : { result: args as JsonObject }
    run.answer = { ...run.answer, ...outcome, status: run.status, ...(args.answer as JsonObject | undefined) }
    append(run.run, 'run.finished', { status: run.status })
  }

  const served: Loose<StandIn> = {
    passthrough: { has: () => false } as unknown as StandIn['passthrough'],
    callers,
    append,
    async discover(input, caller) {
      callers.push(caller)
      const intent = isObject(input) ? input.intent : null
      if (typeof intent !== 'string') {
        throw new AppError('MISSING_REQUIRED_PARAM', 'Cannot discover: say the intent', { param: 'intent' })
      }
      const words = intent.split(' ')
      const results = catalogue.filter(({ id, description }) =>
        words.some((word) => `${id} ${description}`.includes(word)),
      )
      return { status: results.length > 0 ? 'found' : 'nothing_fits', results, unmatched: [], nearest: [] }
    },
    async execute(input, caller) {
      callers.push(caller)
      const { args = {}, key = caller.key ?? null } = input as { args?: Record<string, unknown>; key?: string | null }
      if (args.throw) throw new Error('nobody foresaw this')
      const before = [...runs.values()].find((run) => key !== null && run.key === key)
      if (before) {
        await before.over
        return before.answer
      }
      const id = newId<never>() as string
      const answer = { status: 'running', run: id, callCount: 0, ms: 0, isolation: null }
      const run: Run = { run: id, status: 'running', key, answer, over: Promise.resolve() }
      runs.set(id, run)
      append(id, 'run.started', { args })
      run.over = finish(run, args, caller.signal)
      await run.over
      return run.answer
    },
    async result(input, caller) {
      callers.push(caller)
      const { run, status, answer } = find((input as JsonObject).run)
      return { run, status, value: answer.result ?? null, offset: 0, next: null, bytes: 2, digest: 'none' }
    },
    runs: ({ limit } = {}) =>
      [...runs.values()]
        .map(({ run, status, key }) => ({ run, status, key }))
        .reverse()
        .slice(0, limit),
    run: async (id) => ({ run: find(id).run, status: find(id).status, calls: [] }),
    exposed: async () => [],
    onExposedChange: () => () => {},
    approvals: () => [],
    withPlannedTools: async (approvals) => approvals,
    whenAnswered: async () => true,
    answer: (id) => find(id).answer,
    cancel: async (id) => find(id).answer,
    decide: async (id) => {
      throw new AppError('INVALID_INPUT_PARAM', `Cannot answer "${id}": nothing is asked here`, {
        param: 'id',
        details: 'nothing is asked here',
      })
    },
    tools: async () => ({ tools: catalogue, problems: [] }),
    recentLedger: async () => ({ ok: true, events: events.length }),
    lines(id) {
      const { run } = find(id)
      return events.filter(({ line }) => JSON.parse(line).run === run).map(({ line }) => line)
    },
    events: (seq, limit) => events.slice(seq, seq + limit),
    stats: () => ({ events: events.length, runs: { done: runs.size }, calls: 0, bytes: 4096 }),
    rawAnswer: () => null,
    permissions: () => 'standard',
    health: () => ({ ok: true }),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  return served as StandIn
}

if (process.argv.includes('--stdio')) {
  const verbs = standIn()
  const { closed } = await serveStdio({ verbs, version: '0.0.0' })
  await closed
  process.stderr.write(`runs ${JSON.stringify(verbs.runs())}\n`)
  process.exit(0)
}
