/** A record of past runs that is made while it is read: each a graph of the tools of a question. */
import type { Learner } from '#learn'
import { type Event, type EventBodies, homeChain, sha256 } from '#model'
import type { Arrival, Store } from '#record'
import { start } from './bars.ts'

type Shape = ReturnType<ReturnType<Learner['knowledge']>['shapes']>[number]
type Question = { text: string; tools: readonly string[] }

const startedMs = Date.parse('2026-01-01T00:00:00Z')
const runMs = 60_000

/** `close` makes so many more runs; they can be read then. */
export function readPast(home: string, questions: readonly Question[]) {
  const arrivals: Arrival[] = []
  let [seq, homeCount, closed, made] = [0, 0, 0, 0]

  const arrive = (run: string, n: number, type: string, body: object) => {
    const at = new Date(startedMs + made * runMs).toISOString()
    const line = JSON.stringify({ run, n, at, type, body })
    arrivals.push({ seq: ++seq, run, n, hash: String(seq), line })
  }
  const arriveHome = <Type extends keyof EventBodies>(type: Type, body: EventBodies[Type]) =>
    arrive(homeChain, ++homeCount, type, body)
  const makeRun = () => {
    // Not in the order of the sets, so that neighbours in time are about different things.
    const { text, tools } = questions[(made * 7919) % questions.length]!
    const run = `run-${made}`
    const number = made++
    const tasks = tools.map((tool, at) => ({ id: `t${at}`, tool, arguments: { number } }))
    const plan = { kind: 'dag', source: tasks, digest: sha256(JSON.stringify(tasks)) } as const
    let n = 0
    const add = <Type extends keyof EventBodies>(type: Type, body: EventBodies[Type]) => arrive(run, ++n, type, body)
    add('run.started', { ...start, intent: `${text} for case ${number}`, plan, args: {} })
    for (const [at, { id, tool, arguments: args }] of tasks.entries()) {
      const call = String(at + 1)
      add('call.issued', { call, tool, task: id, args, effect: 'read', effectFrom: 'default', definition: null })
      add('call.sent', { call, attempt: 1 })
      add('call.resolved', { call, attempt: 1, outcome: 'answered', ok: true, value: true, ms: 1, by: 'upstream' })
    }
    add('run.finished', { status: 'done', result: null, callCount: tasks.length, ms: 5 })
    arriveHome('run.closed', { run, head: String(seq), count: n })
  }
  const store = {
    home,
    count: (run: string) => (run === homeChain ? homeCount + (closed - made) : 0),
    events: () => [],
    eventsSince(after: number, limit: number) {
      while (arrivals.length < limit && made < closed) makeRun()
      // What was read is not read again.
      while (arrivals.length > 0 && arrivals[0]!.seq <= after) arrivals.shift()
      return arrivals.slice(0, limit)
    },
    parse: (line: string) => JSON.parse(line) as Event,
    value: (member: unknown) => member,
  }
  return {
    store: store as unknown as Store,
    count: () => closed,
    now: () => startedMs + made * runMs,
    close(runs: number) {
      closed += runs
    },
    /** The habits that were had most often, each with its number as a parameter. */
    learnCapabilities(shapes: readonly Shape[], count: number) {
      const most = [...shapes].sort((left, right) => right.count - left.count).slice(0, count)
      for (const [at, { digest: shape, runs, tools, code }] of most.entries()) {
        const pinned = Object.fromEntries(tools.map((tool) => [tool, '']))
        const which = { capability: `habit_${at}`, version: 1, digest: sha256(code), tools: pinned }
        arriveHome('capability.learned', {
          ...which,
          intent: runs[0]!.intent,
          subject: null,
          source: { type: 'dag', tasks: JSON.parse(code) },
          shape,
          parametersSchema: { type: 'object', properties: { number: { type: 'number' } } },
          lifted: { number: tools.map((_, place) => place) },
          effect: 'read',
          servers: ['bench'],
          runs: runs.map(({ run }) => run),
        })
        arriveHome('capability.verified', { ...which, how: ['rehearsed'], runs: [] })
      }
    },
  }
}
