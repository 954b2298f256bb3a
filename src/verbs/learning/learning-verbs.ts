/** What was learned, to be looked at: how far it is, its graph, and what one run shows. */
import { definitionView, type GraphView, type Learner, openLearner, showLesson, viewOfRun } from '#learn'
import { type Config, type JsonObject, parseId, type RunId } from '#model'
import type { Store } from '#record'
import { adviserOf } from './follow-record.ts'

export type LearningVerbs = {
  status(): Promise<JsonObject>
  /** Makes everything that was learned again from the record. */
  rebuild(): Promise<JsonObject>
  /** Of all that is known, or of the calls of one run. */
  graph(run?: string): Promise<GraphView>
  /** The path, the flows and the graph of a finished run. */
  aboutRun(run: string): JsonObject
}

export function openLearningVerbs(store: Store, config: Config): LearningVerbs {
  const { learn } = config
  const withLearner = async <Value>(use: (learner: Learner) => Value | Promise<Value>): Promise<Value> => {
    const learner = openLearner({ store, enabled: learn.enabled, isAlone: true })
    try {
      await learner.catchUp()
      return await use(learner)
    } finally {
      await learner.close()
    }
  }
  const status = () =>
    withLearner((learner) => {
      return {
        ...learner.status(),
        planner: learner.planner().report,
        attention: learner.attention().report,
        confidence: adviserOf(learner, config).calibration(),
      }
    })
  return {
    status,
    async rebuild() {
      await withLearner(async (learner) => {
        await learner.rebuild()
        await learner.fitModels(learn.shared, new AbortController().signal)
      })
      return status()
    },
    graph: (run) =>
      run === undefined
        ? withLearner((learner) => definitionView(learner.knowledge(), store))
        : Promise.resolve(viewOfRun(store, parseId<RunId>('run', run))),
    aboutRun: (run) => showLesson(store, parseId<RunId>('run', run)),
  }
}
