/**
 * What durability costs: the record against a bare file and against one commit for each event, side
 * by side in one run.
 */
import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { newId, type RunId } from '#model'
import type { Chain, Store } from '#record'
import {
  atLeast,
  atMost,
  type Bar,
  event,
  median,
  ms,
  only,
  preferUs,
  print,
  start,
  time,
  withStore,
} from './record/bars.ts'
import { shapes } from './record/shapes.ts'

async function main(): Promise<void> {
  preferUs()
  const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
  if (process.argv.includes('--young')) return young(folder)
  const bars = [...(await withStore(join(folder, 'home'), (store) => measure(store, folder))), youngest()]
  rmSync(folder, { recursive: true })
  print(bars)
  if (bars.some(({ ok }) => !ok)) process.exitCode = 1
}

async function measure(store: Store, folder: string): Promise<Bar[]> {
  const file = openSync(join(folder, 'file'), 'a')
  const chain = store.startRun(newId<RunId>(), start)
  await warmUp(chain)
  const bars = [
    await single(chain, file, 'one durable append / append + fdatasync'),
    ...(await together(store, folder)),
    ...(await batch(chain, file)),
    ...(await shapes(store)),
  ]
  closeSync(file)
  return bars
}

/**
 * Until the log is as long as it gets: from then on it is written over, as in any process that has
 * run for a while.
 */
async function warmUp(chain: Chain): Promise<void> {
  for (let round = 0; round < 10; round++) await appendMany(chain)
}

/**
 * The first hundred appends of a process and of a home, in five of each: nothing is compiled,
 * cached or allocated yet.
 */
function youngest(): Bar {
  const ratios = Array.from({ length: 5 }, () => {
    const words = ['--disable-warning=ExperimentalWarning', import.meta.filename, '--young']
    return Number(execFileSync(process.execPath, words, { encoding: 'utf8' }))
  })
  return atMost(2.5, 'one durable append, the first 100 of a new process', ratios, '5 processes')
}

async function young(folder: string): Promise<void> {
  const file = openSync(join(folder, 'file'), 'a')
  const ratio = await withStore(join(folder, 'home'), async (store) => {
    const chain = store.startRun(newId<RunId>(), start)
    await chain.durable()
    return pairs(chain, file, 100)
  })
  closeSync(file)
  rmSync(folder, { recursive: true })
  console.log(ratio.ours / ratio.bare)
}

/** One event, durable, against the same bytes appended to a file and synced. */
async function single(chain: Chain, file: number, name: string): Promise<Bar> {
  const repeats = []
  for (let repeat = 0; repeat < 7; repeat++) repeats.push(await pairs(chain, file, 60))
  const ratios = repeats.map(({ ours, bare }) => ours / bare)
  const ours = median(repeats.map(({ ours }) => ours))
  return atMost(2.5, name, ratios, `${ms(ours)} against ${ms(median(repeats.map(({ bare }) => bare)))}`)
}

async function pairs(chain: Chain, file: number, count: number): Promise<{ ours: number; bare: number }> {
  const bare: number[] = []
  const ours: number[] = []
  for (let i = 0; i < count; i++) {
    const line = lineOf(chain.run, i)
    bare.push(await time(() => appendSynced(file, line)))
    ours.push(await time(() => appendDurably(chain)))
  }
  return { ours: median(ours), bare: median(bare) }
}

/**
 * 64 that each wait for their event, in one run and in one run each, against one commit for each on
 * the main thread.
 */
async function together(store: Store, folder: string): Promise<Bar[]> {
  const chains = Array.from({ length: 64 }, () => store.startRun(newId<RunId>(), start))
  await Promise.all(chains.map((chain) => chain.durable()))
  const database = directDatabase(join(folder, 'direct.db'))
  const rounds: { direct: Load; calls: Load; runs: Load }[] = []
  for (let round = 0; round < 10; round++) {
    rounds.push({
      direct: await load(4, () => yieldToEventLoop(database.commit())),
      calls: await load(32, () => appendDurably(chains[0]!)),
      runs: await load(32, (caller) => appendDurably(chains[caller]!)),
    })
  }
  database.close()
  // The first is for warming up.
  rounds.shift()
  return (['calls', 'runs'] as const).flatMap((kind) => {
    const middle = (pick: (round: (typeof rounds)[number]) => number) => median(rounds.map(pick))
    const rate = rounds.map((round) => round[kind].perSecond / round.direct.perSecond)
    const delay = rounds.map((round) => round[kind].delayMs / round.direct.delayMs)
    const rates = [middle((round) => round[kind].perSecond), middle((round) => round.direct.perSecond)].map(Math.round)
    const delays = [middle((round) => round[kind].delayMs), middle((round) => round.direct.delayMs)].map(ms)
    return [
      atLeast(8, `64 ${kind} at once / one commit each`, rate, `${rates[0]}/s against ${rates[1]}/s`),
      atMost(0.25, 'event-loop delay, p99, of the same', delay, `${delays[0]} against ${delays[1]}`),
    ]
  })
}

function appendDurably(chain: Chain): Promise<void> {
  chain.append('call.resolved', event)
  return chain.durable()
}

type Load = { perSecond: number; delayMs: number }

async function load(times: number, append: (caller: number) => Promise<unknown>): Promise<Load> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const elapsed = await time(() =>
    Promise.all(
      Array.from({ length: 64 }, async (_, caller) => {
        for (let i = 0; i < times; i++) await append(caller)
      }),
    ),
  )
  delay.disable()
  // The monitor's own tick of a millisecond is no delay.
  return { perSecond: (64 * times * 1000) / elapsed, delayMs: Math.max(delay.percentile(99) / 1e6 - 1, 0.01) }
}

/**
 * The same record with a commit for each event, on the thread that asks: owner checked, event
 * inserted, head moved.
 */
function directDatabase(file: string) {
  const database = new DatabaseSync(file)
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE event (seq INTEGER PRIMARY KEY, run TEXT, n INTEGER, type TEXT, line TEXT, hash TEXT, UNIQUE (run, n)) STRICT;
    CREATE TABLE run (run TEXT PRIMARY KEY, owner TEXT, epoch INTEGER, n INTEGER, hash TEXT) STRICT, WITHOUT ROWID;
    INSERT INTO run VALUES ('direct', 'us', 1, 0, '${'0'.repeat(64)}')
  `)
  const head = database.prepare('SELECT owner, epoch, n, hash FROM run WHERE run = ?')
  const insert = database.prepare('INSERT INTO event (run, n, type, line, hash) VALUES (?, ?, ?, ?, ?)')
  const move = database.prepare('UPDATE run SET n = ?, hash = ? WHERE run = ?')
  return {
    commit() {
      database.exec('BEGIN IMMEDIATE')
      const { n, hash: previous } = head.get('direct') as { n: number; hash: string }
      const line = lineOf('direct', n + 1)
      const digest = hash('sha256', `${previous}\n${line}`)
      insert.run('direct', n + 1, 'call.resolved', line, digest)
      move.run(n + 1, digest, 'direct')
      database.exec('COMMIT')
    },
    close: () => database.close(),
  }
}

/**
 * 1,000 events against a journal of lines and hashes that is one file, with its index in memory;
 * and against its bytes alone.
 */
async function batch(chain: Chain, file: number): Promise<Bar[]> {
  const append = openJournal(file)
  const bytes = `${lineOf(chain.run, 1000)}${'0'.repeat(66)}`.repeat(1000)
  const rounds: { ours: number; journal: number; bytes: number }[] = []
  for (let round = 0; round < 60; round++) {
    rounds.push({
      journal: await time(() => append(chain.run, 1000)),
      ours: await time(() => appendMany(chain)),
      bytes: await time(() => appendSynced(file, bytes)),
    })
  }
  const repeats = Array.from({ length: 6 }, (_, i) => rounds.slice(i * 10, i * 10 + 10))
  const middle = (list: typeof rounds, what: 'ours' | 'journal' | 'bytes') => median(list.map((round) => round[what]))
  const against = (what: 'journal' | 'bytes') => repeats.map((list) => middle(list, 'ours') / middle(list, what))
  const times = (what: 'journal' | 'bytes') => `${ms(middle(rounds, 'ours'))} against ${ms(middle(rounds, what))}`
  return [
    atMost(1.5, '1,000 events / the same lines made, hashed and appended', against('journal'), times('journal')),
    only('1,000 events / their bytes, ready made, in one append', against('bytes'), times('bytes')),
  ]
}

async function appendMany(chain: Chain): Promise<void> {
  for (let i = 0; i < 1000; i++) chain.append('call.resolved', event)
  await chain.durable()
}

function openJournal(file: number): (run: string, count: number) => void {
  const index = new Map<string, { offset: number; bytes: number; hash: string }[]>()
  let offset = 0
  return (run, count) => {
    const places = index.get(run) ?? []
    index.set(run, places)
    const lines: string[] = []
    for (let i = 0; i < count; i++) {
      const line = lineOf(run, places.length + 1)
      const digest = hash('sha256', `${places.at(-1)?.hash ?? ''}\n${line}`)
      const bytes = Buffer.byteLength(line)
      places.push({ offset, bytes, hash: digest })
      lines.push(line, digest)
      offset += bytes + digest.length + 2
    }
    appendSynced(file, `${lines.join('\n')}\n`)
  }
}

function lineOf(run: string, n: number): string {
  return JSON.stringify({ run, n, at: new Date().toISOString(), type: 'call.resolved', body: event })
}

function appendSynced(file: number, text: string): void {
  writeSync(file, text)
  fdatasyncSync(file)
}

await main()
