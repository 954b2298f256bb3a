/**
 * Learning from one home: follows its record after the fact, a step at a time, and never on the way
 * of a call. Several processes of a home share the file; one of them makes each step.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Attention } from '#learn/attention'
import { followPlans, noPlanner, openPlanner, type Planner, readPlanner } from '#learn/plans'
import { AppError, homeChain, limits } from '#model'
import { homePaths, type Store } from '#record'
import { foldEvent } from './fold.ts'
import { type Knowledge, openKnowledge } from './knowledge.ts'
import { type Reading, readAhead } from './read-ahead.ts'
import { type Position, Rows, rowKinds, type StoredRow, start } from './rows.ts'

type LearnStatus = {
  enabled: boolean
  /** The number of the home's event up to which was folded, and of its last. */
  n: number
  of: number
  digest: string
  rows: Record<string, number>
}

export type Learner = {
  /** Folds what is on the record; false where it ended before all was. */
  catchUp(signal?: AbortSignal, stepsMax?: number): Promise<boolean>
  knowledge(): Knowledge
  /** What was found about attention at the last count of runs, as of the last catchUp(). */
  attention(): Attention
  /** The planner as it was fitted last, as of the last catchUp(). */
  planner(): Planner
  /** Fits the planner and judges attention where that is due: seconds, in threads of their own. */
  fitModels(isShared: boolean, signal: AbortSignal): Promise<void>
  status(): LearnStatus
  /** Makes everything again from the record. */
  rebuild(signal?: AbortSignal): Promise<void>
  /** Folds what is there and puts what was learned on the record: then runs may be purged. */
  beforePurge(): Promise<void>
  close(): Promise<void>
}

export const unjudged: Attention = {
  report: {
    state: 'off',
    why: `it is judged first after ${limits.attentionJudgedEvery} runs with an intent, while "metier serve" runs`,
    judgedAt: 0,
    heldOut: 0,
    with: null,
    without: null,
    lowerBound: null,
  },
  of: () => () => undefined,
}

type LearnerOptions = {
  store: Store
  enabled: boolean
  log?: (line: string) => void
  file?: string
  /** Nothing waits for this process: then it is longer at a time, and writes less often. */
  isAlone?: boolean
}

export function openLearner({ store, enabled, log = () => {}, file, isAlone = false }: LearnerOptions): Learner {
  const rows = new Rows(file ?? homePaths(store.home).learn, log)
  const knowledge = openKnowledge(rows)
  checkPosition(rows, store, log)

  const folding = { rows, reading: readAhead(store), store }
  const stepMs = isAlone ? limits.learnStepAloneMs : limits.learnStepMs
  const catchUp = async (signal?: AbortSignal, stepsMax = Number.POSITIVE_INFINITY): Promise<boolean> => {
    for (let steps = 0; steps < stepsMax && signal?.aborted !== true; steps++) {
      if (rows.position().n === store.count(homeChain) || step(folding, stepMs) === 0) return true
      await yieldToEventLoop() // between steps this process does what it was started for
    }
    return false
  }
  /** Another process may be at it for longer than is waited for the file. */
  const catchUpWith = async (n: number) => {
    for (let tries = 0; tries < limits.learnPurgeTriesMax; tries++) {
      await catchUp()
      if (rows.position().n >= n) return
    }
    throw new AppError('TOOL_INTERNAL_ERROR', 'Cannot purge: what the runs taught is being folded. Try again later')
  }
  const rebuild = async (signal?: AbortSignal) => {
    begin(rows, store)
    fittedOn = null
    await catchUp(signal)
  }
  let fittedOn: Knowledge | null = null
  const models = openModels(rows)
  return {
    attention: models.attention,
    planner: models.planner,
    async fitModels(isShared, signal) {
      const known = knowledge()
      if (known === fittedOn) return
      fittedOn = known
      const keptAs = (name: 'attention' | 'planner') => ({
        runs: known.runs,
        count: rows.modelCount(name),
        keep: (count: number, state: string) => rows.putModel(name, count, state),
      })
      const { followAttention } = await import('#learn/attention')
      await followPlans(keptAs('planner'), store, isShared, signal)
      await followAttention(keptAs('attention'), store, isShared, signal)
      await models.load()
    },
    async catchUp(signal, stepsMax) {
      const isFolded = enabled ? await catchUp(signal, stepsMax) : true
      await models.load()
      return isFolded
    },
    knowledge,
    status: () => statusOf(rows, store, enabled),
    rebuild,
    async beforePurge() {
      if (enabled) await catchUpWith(store.count(homeChain))
      await putOnRecord(rows, store)
    },
    close: async () => rows.close(),
  }
}

/** What was fitted last; loaded only where there is something: most commands look at no ranking. */
function openModels(rows: Rows) {
  let attention = unjudged
  let planner = noPlanner
  return {
    attention: () => attention,
    planner: () => planner,
    async load() {
      const judgedAt = rows.modelCount('attention') ?? 0
      if (attention.report.judgedAt !== judgedAt)
        attention =
          judgedAt === 0 ? unjudged : (await import('#learn/attention')).openAttention(rows.model('attention')!)
      const fittedAt = rows.modelCount('planner') ?? 0
      if (planner.report.fittedAt !== fittedAt)
        planner = fittedAt === 0 ? noPlanner : openPlanner(readPlanner(rows.model('planner')!))
    },
  }
}

type Folding = { rows: Rows; reading: Reading; store: Store }

/** One transaction: a few events of the home, for a few milliseconds. */
function step({ rows, reading, store }: Folding, stepMs: number): number {
  let read = 0
  rows.advance((from, at) => {
    const until = performance.now() + stepMs
    let position: Position | null = null
    for (;;) {
      const arrived = reading.after(position?.seq ?? from.seq)
      if (arrived.length === 0) break
      for (const one of arrived) {
        const { seq, hash, event } = one
        at(event.n)
        foldEvent(rows, one, store)
        position = { seq, n: event.n, hash }
        read += 1
        if (performance.now() > until) return position
      }
    }
    return position
  })
  return read
}

/** A record that was put back from a backup is another one: what was learned of it is too. */
function checkPosition(rows: Rows, store: Store, log: (line: string) => void): void {
  const { seq, hash } = rows.position()
  if (seq === 0) {
    if (store.count(homeChain) > 0) begin(rows, store)
    return
  }
  const [found] = store.eventsSince(seq - 1, 1)
  if (found?.seq === seq && found.hash === hash) return
  log('learn.db is of another record: it is made again')
  begin(rows, store)
}

type Folded = { rows: [kind: string, key: string, value: StoredRow['value'], n: number][] }

/** From nothing, or from what the record says was learned from runs that were purged since. */
function begin(rows: Rows, store: Store): void {
  const folded = store.events(homeChain, { type: 'learn.folded' })
  const known = new Map<string, StoredRow>()
  let n = 0
  for (const event of folded) {
    if (event.type !== 'learn.folded') continue
    const state = store.value(event.body.state) as Folded
    for (const [kind, key, value, at] of state.rows)
      known.set(`${kind}\0${key}`, { kind: kind as StoredRow['kind'], key, value, n: at })
    n = event.body.n
  }
  rows.reset([...known.values()], n === 0 ? start : positionAt(store, n))
}

function positionAt(store: Store, n: number): Position {
  let seq = 0
  for (;;) {
    const events = store.eventsSince(seq, 1000)
    const found = events.find((one) => one.run === homeChain && one.n === n)
    if (found !== undefined) return { seq: found.seq, n, hash: found.hash }
    if (events.length === 0) return start
    seq = events.at(-1)!.seq
  }
}

/** The rows that changed since the record was told last; nothing where none did. */
async function putOnRecord(rows: Rows, store: Store): Promise<void> {
  const last = store.events(homeChain, { type: 'learn.folded' }).at(-1)
  const before = last?.type === 'learn.folded' ? last.body.n : 0
  const changed = rows.changedSince(before)
  if (changed.length === 0) return
  const { n } = rows.position()
  const state = { rows: changed.map(({ kind, key, value, n: at }) => [kind, key, value, at]) } satisfies Folded
  await store.appendHome('learn.folded', { n, digest: rows.digest(), state })
}

function statusOf(rows: Rows, store: Store, enabled: boolean): LearnStatus {
  const counts = rowKinds.map((kind) => [kind, rows.count(kind)])
  return {
    enabled,
    n: rows.position().n,
    of: store.count(homeChain),
    digest: rows.digest(),
    rows: Object.fromEntries(counts),
  }
}
