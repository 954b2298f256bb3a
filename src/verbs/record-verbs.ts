/** The half of the verbs that only reads: it opens the store, and neither loads nor opens what moves runs. */
import { type Config, type JsonObject, parseId, type RunId } from '#model'
import { openStore, openVerifier, type Store, verify } from '#record'
import { aboutRun, aboutRunNow } from './about-run.ts'
import { answerOf } from './answer.ts'
import { whenAnswered } from './attend.ts'
import type { RecordVerbs, Surroundings } from './contract.ts'
import { listRuns } from './list-runs.ts'
import { allApprovals } from './open-approvals.ts'
import { result, resultText } from './result.ts'
import { notFound } from './run-view.ts'
import { wholeOf } from './whole.ts'

export async function openRecordVerbs(
  config: Config,
  { homeOption = '', log = () => {} }: Surroundings,
): Promise<RecordVerbs> {
  const store = await openStore({ home: config.home, homeOption })
  const recentVerdict = openVerifier(config.home)
  const swept = sweep(store, log)
  let closing: Promise<void> | undefined
  return {
    store,
    result: (input) => result(store, input),
    resultText: async (input) => resultText(store, input),
    answer: (run) => aboutRunNow(store, id(run), () => answerOf(store, id(run))),
    runs: (filter) => listRuns(store, filter),
    run: async (run) => {
      const { showRun } = await import('./show-run.ts')
      return aboutRun(store, id(run), () => showRun(store, id(run)))
    },
    approvals: () => allApprovals(store) as JsonObject[],
    named: async (approvals) => {
      const { named } = await import('./preview.ts')
      return named({ store, policy: config.policy }, approvals)
    },
    whenAnswered: (approval, over) => whenAnswered(store, approval, over),
    whole: (answer) => wholeOf(store, answer),
    ledger: async (run) => (await verify(config.home, run === undefined ? {} : { run })) as unknown as JsonObject,
    recentLedger: async () => (await recentVerdict()) as unknown as JsonObject,
    lines(run) {
      if (store.run(id(run)) === undefined) throw notFound(store, id(run))
      return store.lines(id(run))
    },
    events: (seq, limit) => store.eventsSince(seq, limit),
    stats: () => store.stats(),
    onChange: (listener) => store.onChange(listener),
    close: () => (closing ??= swept.then(() => store.close())),
  }
}

/**
 * Ends what dead processes left running. Opening the store removes their locks, so the next process would not find them: this
 * one sweeps, whatever it was opened for. A run that is resumed waits for the servers of its own former owner.
 */
async function sweep({ dead }: Store, log: (line: string) => void): Promise<void> {
  if (dead.length === 0) return
  const { leftoversOf } = await import('#catalog')
  await Promise.all(dead.map((owner) => leftoversOf(owner).catch(({ message }) => log(message))))
}

export const id = (run: string) => parseId<RunId>('run', run, '; "metier runs" lists them')
