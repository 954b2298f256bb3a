/** What one finished run shows of itself: its path, its flows, and the graph that it amounts to. */

import { flowsOfRun, type Lesson, lessonOf, ownCalls, rebuildGraph } from '#learn/lessons'
import type { Json, JsonObject, RunId } from '#model'
import type { Store } from '#record'
import { sourceOf } from './fold.ts'
import { type GraphView, invocationView } from './graph-view.ts'

type Read = Pick<Store, 'events' | 'value'>

const read = (store: Read, run: RunId) => lessonOf(store.events(run), sourceOf(store))

/** Nothing of a run that is not finished. */
export function showLesson(store: Read, run: RunId): JsonObject {
  const lesson = read(store, run)
  if (lesson === null) return {}
  const shown = { path: pathOf(lesson), flows: flowsOfRun(lesson), dag: rebuildGraph(lesson) }
  return JSON.parse(JSON.stringify(shown)) as JsonObject
}

export function viewOfRun(store: Read, run: RunId): GraphView {
  const lesson = read(store, run)
  return lesson === null ? { nodes: [], edges: [] } : invocationView(lesson)
}

/** Calls and pure operations in the order in which they began. */
function pathOf(lesson: Lesson): Json[] {
  const calls = ownCalls(lesson).map(({ id, tool, start, ok }) => ({ n: start, step: { call: id, tool, ok } }))
  const operations = lesson.operations.map(({ operation, n }) => ({ n, step: { operation } }))
  return [...calls, ...operations].sort((left, right) => left.n - right.n).map(({ step }) => step)
}
