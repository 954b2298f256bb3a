/**
 * The half of the verbs that only reads: it opens the store, and neither loads nor opens what moves
 * runs.
 */
import { type Config, parseId, type RunId } from '#model'
import { openVerifier, type Store, verify } from '#record'
import { result, resultText } from '#verbs/result'
import {
  aboutRun,
  aboutRunNow,
  allApprovals,
  answerOf,
  listRuns,
  notFound,
  rawAnswerOf,
  showRun,
  whenAnswered,
} from '#verbs/views'
import type { RecordVerbs, VerbsOptions } from './contract.ts'
import { openKeepVerbs } from './keep-verbs.ts'
import { openTaskGraphVerbs } from './task-graph.ts'

/** `store` is closed together with what comes back. */
export function openRecordVerbs(store: Store, config: Config, { log = () => {} }: VerbsOptions): RecordVerbs {
  const recentVerdict = openVerifier(config.home)
  const swept = sweep(store, log)
  const taskGraph = openTaskGraphVerbs(config, store)
  let closing: Promise<void> | undefined
  return {
    ...openKeepVerbs(store, config),
    result: (input) => result(store, input),
    resultText: async (input) => resultText(store, input),
    answer: (run) => aboutRunNow(store, id(run), () => answerOf(store, id(run))),
    runs: (filter) => listRuns(store, filter),
    run: async (run) => aboutRun(store, id(run), () => showRun(store, id(run))),
    approvals: () => allApprovals(store),
    withPlannedTools: async (approvals) => {
      const { withPlannedTools } = await import('#verbs/preview')
      return withPlannedTools({ store, policy: config.policy }, approvals)
    },
    whenAnswered: (approval, over) => whenAnswered(store, approval, over),
    rawAnswer: (run) => rawAnswerOf(store, id(run)),
    ledger: (run) => verify(config.home, run === undefined ? {} : { run }),
    recentLedger: recentVerdict,
    lines(run) {
      if (store.run(id(run)) === undefined) throw notFound(store, id(run))
      return store.lines(id(run))
    },
    events: (seq, limit) => store.eventsSince(seq, limit),
    stats: () => store.stats(),
    onChange: (listener) => store.onChange(listener),
    learning: async () => (await import('#verbs/learning')).openLearningVerbs(store, config),
    taskGraph,
    close: () => (closing ??= Promise.all([swept, taskGraph.close()]).then(() => store.close())),
  }
}

/**
 * Ends what dead processes left running. Opening the store removes their locks, so the next process
 * would not find them: this one sweeps, whatever it was opened for. A run that is resumed waits for
 * the servers of its own former owner.
 */
async function sweep({ deadProcesses: dead }: Store, log: (line: string) => void): Promise<void> {
  if (dead.length === 0) return
  const { endOrphansOf } = await import('#catalog')
  await Promise.all(dead.map((owner) => endOrphansOf(owner).catch(({ message }) => log(message))))
}

export const id = (run: string) => parseId<RunId>('run', run, '; "metier runs" lists them')
