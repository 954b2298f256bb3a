/**
 * Follows the record for learning, beside whatever this process does: looks at it now and then, and
 * once more before the process ends. While calls keep the process busy it folds a little at a time,
 * so that they do not pay for it. What fails is told once, and tried again at the next look.
 */
import { Adviser, fixturesOf, type Learner, noAdviser, openCapabilities, openLearner } from '#learn'
import { abortable, type Config, limits, type RunId, toAppError } from '#model'
import type { Store } from '#record'

type Following = { learner: Learner; close(): Promise<void> }
type Work = {
  /** Done whenever everything that is on the record was folded. */
  folded(signal: AbortSignal): Promise<unknown>
  /** What takes seconds is for a process that stays. */
  isServing(): boolean
}

const nothingMore: Work = { folded: async () => {}, isServing: () => false }

export function followRecord(
  store: Store,
  { learn }: Config,
  log: (line: string) => void,
  { folded, isServing }: Work = nothingMore,
): Following {
  const learner = openLearner({ store, enabled: learn.enabled, log })
  const leaving = new AbortController()
  let looking: Promise<void> | null = null
  let judging: Promise<void> | null = null
  let isTold = false
  const judge = () => {
    judging ??= learner
      .fitModels(learn.shared, leaving.signal)
      .catch((error) => log(`Cannot judge attention over past runs: ${toAppError(error).message}`))
      .finally(() => {
        judging = null
      })
  }
  const look = async (signal: AbortSignal, stepsMax?: number) => {
    try {
      const isFolded = await learner.catchUp(signal, stepsMax)
      if (learn.enabled && isFolded && !signal.aborted) await abortable(folded(signal), signal)
      if (learn.enabled && isFolded && isServing() && !leaving.signal.aborted) judge()
      isTold = false
    } catch (error) {
      if (!isTold) log(`Cannot learn from the record, and will try again: ${toAppError(error).message}`)
      isTold = true
    }
  }
  const pace = openPace()
  const timer = setInterval(() => {
    const stepsMax = looking === null ? pace.steps() : 0
    if (stepsMax === 0) return
    looking = look(leaving.signal, stepsMax).finally(() => {
      looking = null
      pace.looked()
    })
  }, limits.learnLookMs).unref()
  return {
    learner,
    async close() {
      clearInterval(timer)
      leaving.abort()
      await Promise.all([looking, judging])
      await look(AbortSignal.timeout(limits.learnCloseMsMax))
      await learner.close()
    },
  }
}

/**
 * How many steps of the fold a look may make: many where the process had little to do since the one
 * before, else one for every so much CPU time that it used. By the clock a process that shares its
 * processor would fold more for each call. What a look itself takes counts for neither.
 */
function openPace(): { steps(): number; looked(): void } {
  let last = performance.eventLoopUtilization()
  let folded = process.cpuUsage()
  const looked = () => {
    last = performance.eventLoopUtilization()
  }
  const steps = () => {
    const { utilization } = performance.eventLoopUtilization(last)
    looked()
    const { user, system } = process.cpuUsage(folded)
    const isBusy = 100 * utilization > limits.learnBusyPercent
    const isDue = (user + system) * limits.learnBusySharePercent >= limits.learnStepMs * 1000 * 100
    if (isBusy && !isDue) return 0
    folded = process.cpuUsage()
    return isBusy ? 1 : limits.learnIdleSteps
  }
  return { steps, looked }
}

/** Reads what was learned; nothing where learning is switched off. */
export function adviserOf({ knowledge, attention, planner }: Learner, { learn }: Config): Adviser {
  if (!learn.enabled) return noAdviser
  return new Adviser({ knowledge, attention, planner, isShared: learn.shared, now: Date.now })
}

/** What the runs that go taught is folded, and stands on the record, before they go. */
export async function foldBeforePurge(store: Store, { learn }: Config): Promise<void> {
  const learner = openLearner({ store, enabled: learn.enabled, isAlone: true })
  try {
    await learner.beforePurge()
  } finally {
    await learner.close()
  }
}

/** Of old runs those that go. What a capability is held against stays, to verify it again. */
export async function foldBeforeExpiry(store: Store, config: Config, old: readonly RunId[]): Promise<RunId[]> {
  const capabilities = openCapabilities(store, () => true)
  const fixtures = new Set(capabilities.all().flatMap(fixturesOf))
  const leaving = old.filter((run) => !fixtures.has(run))
  if (leaving.length > 0) await foldBeforePurge(store, config)
  return leaving
}
