/**
 * What the benches of the record share: figures with their spread and their bar, and events of an
 * ordinary size.
 */
import { availableParallelism, constants, cpus, setPriority } from 'node:os'
import type { EventBodies } from '#model'
import { openStore, type Store } from '#record'

export type Bar = { name: string; value: number; least: number; most: number; bar: string; ok: boolean; detail: string }

export const start: EventBodies['run.started'] = {
  intent: 'bench',
  mode: 'run',
  plan: { kind: 'code', source: '', digest: '' },
  args: null,
  actor: { kind: 'cli', name: 'bench' },
  permissions: 'standard',
  budget: { calls: 1, wallMs: 1, bytes: 1 },
  seed: '00'.repeat(32),
  engine: { name: '', version: '', digest: '' },
  servers: {},
  isolation: null,
}

/** An event of about 450 bytes. */
export const event: EventBodies['call.resolved'] = {
  call: '1',
  attempt: 1,
  outcome: 'answered',
  ok: true,
  value: { text: 'a result of an ordinary size, such as most tools give back; '.repeat(4) },
  ms: 3,
  by: 'upstream',
}

export function atMost(limit: number, name: string, values: number[], detail: string): Bar {
  return { name, value: median(values), ...spread(values), bar: `≤ ${limit}`, ok: median(values) <= limit, detail }
}

export function atLeast(limit: number, name: string, values: number[], detail: string): Bar {
  return { name, value: median(values), ...spread(values), bar: `≥ ${limit}`, ok: median(values) >= limit, detail }
}

/** A figure without a bar. */
export function only(name: string, values: number[], detail: string): Bar {
  return { name, value: median(values), ...spread(values), bar: '', ok: true, detail }
}

function spread(values: number[]): { least: number; most: number } {
  return { least: Math.min(...values), most: Math.max(...values) }
}

export async function time(work: () => unknown): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

export function ms(value: number): string {
  return `${value.toFixed(2)} ms`
}

export function print(bars: Bar[]): void {
  if (process.argv.includes('--json')) return console.log(JSON.stringify(bars))
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`
  console.log(`${machine}; SQLite ${process.versions.sqlite}: WAL, synchronous=FULL, an fdatasync for each commit.`)
  console.log(`The middle of several repeats, the least and the most of them, and the bar.`)
  for (const { name, value, least, most, bar, ok, detail } of bars) {
    const figures = [value, least, most].map((figure) => figure.toFixed(2).padStart(6)).join(' ')
    console.log(`${ok ? 'ok    ' : 'MISSED'} ${name.padEnd(56)} ${figures}  ${bar.padEnd(6)}  ${detail}`)
  }
}

/**
 * Other programs on the machine are no part of the comparison; where we may not say so, they are.
 */
export function preferUs(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST)
  } catch {}
}

export async function withStore<T>(home: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ home })
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
