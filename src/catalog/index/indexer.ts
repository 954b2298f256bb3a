/**
 * Keeps the index of all tools as they are now: one segment for each server, built in slices, and
 * only where something changed.
 */
import { limits, type Tool } from '#model'
import { indexKey, readIndex, writeIndex } from './index-file.ts'
import { buildNames } from './match-names.ts'
import { buildPostings } from './postings.ts'
import { sameSearchText } from './search-fields.ts'
import type { Index, Lists, Segment } from './search-index.ts'
import { Vocabulary } from './vocabulary.ts'

export type { Index, Segment }

type Indexer = {
  /** What there is to find is not what it was. */
  changed(): void
  /** As it is now; what others do meanwhile goes on. */
  current(lists: () => Lists): Promise<Index>
}

/**
 * `folder` is where the index of a large catalogue is kept between two processes; without it, it is
 * not.
 */
export function openIndexer(folder: string | null = null): Indexer {
  let index = emptyIndex()
  let version = 0
  let built = -1
  let building: Promise<void> | null = null
  const build = async (lists: Lists) => {
    const at = version
    const isFirst = index.segments.length === 0
    const place = isFirst && countOf(lists) >= limits.indexKeptToolsMin ? folder : null
    index = place === null ? await inSlices(buildSegments(index, lists)) : await readOrBuild(place, lists)
    built = at
  }
  const start = (lists: () => Lists) => {
    building ??= build(lists()).finally(() => {
      building = null
    })
    return building
  }
  return {
    changed() {
      version++
    },
    async current(lists) {
      const asked = version
      // One that is under way may have begun too early.
      for (let turns = 0; built < asked && turns < 2; turns++) await start(lists)
      return index
    },
  }
}

/**
 * What was kept is taken where it is of these very tools; else it is built, and kept for the next
 * process.
 */
async function readOrBuild(folder: string, given: Lists): Promise<Index> {
  // The lists go on changing while we read them.
  const lists = new Map([...given].map(([server, tools]) => [server, [...tools]]))
  const key = indexKey(lists)
  const stored = readIndex(folder, key, lists)
  if (stored !== null) return stored
  const index = await inSlices(buildSegments(emptyIndex(), lists))
  try {
    writeIndex(folder, key, index)
  } catch {
    // The disk does not take it: the next process builds its own.
  }
  return index
}

const emptyIndex = (): Index => ({ vocabulary: new Vocabulary(), segments: [], tools: 0 })
const countOf = (lists: Lists) => [...lists.values()].reduce((sum, tools) => sum + tools.length, 0)

/** All at once, for as many tools as one can wait for. */
export function buildIndex(tools: readonly Tool[]): Index {
  const lists = Map.groupBy(tools, ({ server }) => server)
  const steps = buildSegments(emptyIndex(), lists)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

function* buildSegments(old: Index, lists: Lists): Generator<void, Index> {
  // Words are never removed one by one: once too many are in no tool any more, the vocabulary is
  // built again.
  const fresh = old.vocabulary.size > limits.searchFormsMax
  const vocabulary = fresh ? new Vocabulary() : old.vocabulary
  const segments: Segment[] = []
  for (const [server, tools] of lists) {
    const before = fresh ? undefined : old.segments.find((segment) => segment.server === server)
    segments.push(yield* buildSegment(vocabulary, server, tools, before ?? null))
  }
  return { vocabulary, segments, tools: segments.reduce((sum, segment) => sum + segment.tools.length, 0) }
}

function* buildSegment(
  vocabulary: Vocabulary,
  server: string,
  given: readonly Tool[],
  before: Segment | null,
): Generator<void, Segment> {
  // The list goes on changing while we read it.
  const tools = [...given]
  if (before !== null && isSame(before.tools, tools)) return { ...before, tools }
  const postings = yield* buildPostings(
    vocabulary,
    tools,
    before === null ? null : { tools: before.tools, postings: before },
  )
  const names = before !== null && areNamedAlike(before.tools, tools) ? before.names : yield* buildNames(tools)
  return { ...postings, server, tools, names }
}

function areNamedAlike(left: readonly Tool[], right: readonly Tool[]): boolean {
  return left.length === right.length && left.every(({ name }, place) => name === right[place]!.name)
}

function isSame(left: readonly Tool[], right: readonly Tool[]): boolean {
  return left.length === right.length && left.every((tool, place) => sameSearchText(tool, right[place]!))
}

/** Works for a few milliseconds at a time. */
async function inSlices<Value>(steps: Generator<void, Value>): Promise<Value> {
  let until = performance.now() + limits.searchSliceMs
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    if (performance.now() < until) continue
    await new Promise((resolve) => setImmediate(resolve))
    until = performance.now() + limits.searchSliceMs
  }
}
