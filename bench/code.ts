/**
 * What a program's box costs: a warm start, calls one after the other and at once, and computing,
 * for each engine and box of this machine, against a bare Node child with the same pipes in the
 * same run. Takes `--json` and `--quick`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import type { AppError, Turn } from '#model'
import { type Boxes, type BoxesOptions, openBoxes, prepareProgram } from '#sandbox'

const quick = process.argv.includes('--quick')
const starts = quick ? 30 : 200
const calls = quick ? 100 : 500
const rounds = quick ? 3 : 11
const seed = 'a'.repeat(64)
const text = JSON.stringify({ size: 5, ok: true, content: 'hello world' })
const sequential = `let sum = 0; for (let i = 0; i < ${calls}; i++) sum += (await mcp.fs.read({ path: '/a/' + i })).size; return sum`
const parallel = `const all = await Promise.all(Array.from({ length: ${calls} }, (_, i) => mcp.fs.read({ path: '/a/' + i }))); return all.length`
const work = `const fib = (n) => (n < 2 ? n : fib(n - 1) + fib(n - 2))
const rows = Array.from({ length: 20000 }, (_, i) => ({ i, name: 'row ' + ((i * 7919) % 20000) }))
return [fib(24), JSON.stringify(rows.filter((row) => row.i % 3).map((row) => row.name).sort()).length]`

type Figure = {
  name: string
  p50: number
  p99: number
  unit: string
  bar: string
  ok: boolean
  ratio: number
  peer: string
}
type Place = { name: string; options: BoxesOptions; start: number[]; call: number; together: number; compute: number }

const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
/**
 * From the notes: a warm start, a call after another, calls at once, and computing against native
 * V8.
 */
const places: Place[] = [
  { name: 'QuickJS in bubblewrap', options: {}, start: [6, 20], call: 400, together: 150, compute: 12 },
  {
    name: 'QuickJS in gVisor',
    options: { minTier: 'gvisor', folder },
    start: [10, 30],
    call: 700,
    together: 700,
    compute: 12,
  },
  { name: 'V8 in bubblewrap', options: { engine: 'v8' }, start: [6, 20], call: 400, together: 150, compute: 1.8 },
]

const start = (boxes: Boxes, code: string) =>
  boxes.program({ source: prepareProgram(code).source, args: '{}', seed, now: 1 })

async function startMs(boxes: Boxes): Promise<number> {
  await pause(10)
  const began = performance.now()
  await (await start(boxes, 'return 1 + 1')).start()
  return performance.now() - began
}

async function computeMs(boxes: Boxes): Promise<number> {
  const program = await start(boxes, work)
  const began = performance.now()
  await program.start()
  return performance.now() - began
}

/** Microseconds of each exchange, and of all together divided by their number. */
async function exchanges(boxes: Boxes, code: string): Promise<{ each: number[]; mean: number }> {
  const running = await start(boxes, code)
  const each: number[] = []
  const began = performance.now()
  let [open, next] = [0, 1]
  let end: Turn['end']
  const take = (turn: Turn) => {
    open += turn.calls.length
    end ??= turn.end
  }
  take(await running.start())
  while (end === undefined) {
    const sent = performance.now()
    const pending: Promise<Turn>[] = []
    while (next <= open) pending.push(running.deliver({ call: next++, ok: true, text, now: 1 }))
    for (const turn of await Promise.all(pending)) take(turn)
    each.push((performance.now() - sent) * 1000)
  }
  return { each, mean: ((performance.now() - began) / calls) * 1000 }
}

/**
 * A child that gives each line back: what two pipes and a Node process cost with nothing in
 * between.
 */
async function bareExchanges(): Promise<number[]> {
  const echo = `require('readline').createInterface({ input: process.stdin }).on('line', (line) => process.stdout.write(line + '\\n'))`
  const child = spawn(process.execPath, ['-e', echo], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const each: number[] = []
  for (let i = 0; i <= calls; i++) {
    const sent = performance.now()
    child.stdin.write(`${text}\n`)
    await lines.next()
    if (i > 0) each.push((performance.now() - sent) * 1000)
  }
  child.kill()
  await once(child, 'exit')
  return each
}

/** A new Node process for one program: what a start costs where nothing is kept warm. */
async function bareStart(): Promise<number> {
  const began = performance.now()
  const child = spawn(process.execPath, ['-e', '1 + 1'], { stdio: 'ignore' })
  await once(child, 'exit')
  return performance.now() - began
}

async function nativeMs(): Promise<number> {
  const program = new Function(`return (async () => { ${work} })()`)
  const began = performance.now()
  await program()
  return performance.now() - began
}

function quantile(values: number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(share * values.length) - 1)]!
}

const times = async (count: number, act: () => Promise<number>) => {
  const all: number[] = []
  for (let i = 0; i < count; i++) all.push(await act())
  return all
}

/** One round of the peer between each of ours: both meet the same machine. */
async function measure({ name, options, ...bars }: Place): Promise<Figure[]> {
  const boxes = openBoxes(options)
  try {
    await boxes.isolation()
    const [warm, bareWarm] = [await times(starts, () => startMs(boxes)), await times(rounds, bareStart)]
    const [each, bareEach, together, compute, native]: number[][] = [[], [], [], [], []]
    for (let i = 0; i < rounds; i++) {
      bareEach!.push(...(await bareExchanges()))
      each!.push(...(await exchanges(boxes, sequential)).each)
      together!.push((await exchanges(boxes, parallel)).mean)
      native!.push(await nativeMs())
      compute!.push(await computeMs(boxes))
    }
    const figure = (
      what: string,
      values: number[],
      unit: string,
      [bar, bar99]: number[],
      peer: string,
      of: number[],
    ) => {
      const [p50, p99, ratio] = [
        quantile(values, 0.5),
        quantile(values, 0.99),
        quantile(values, 0.5) / quantile(of, 0.5),
      ]
      const ok = (unit === '×' ? ratio <= bar! : p50 <= bar!) && (bar99 === undefined || p99 <= bar99)
      return {
        name: `${name}: ${what}`,
        p50,
        p99,
        unit,
        bar: [bar, bar99].filter(Boolean).join(' / '),
        ok,
        ratio,
        peer,
      }
    }
    return [
      figure('warm start', warm, 'ms', bars.start, 'a new Node process', bareWarm),
      figure('a call after another', each!, 'µs', [bars.call], 'a bare child', bareEach!),
      figure('a call among many', together!, 'µs', [bars.together], 'a bare child', bareEach!),
      figure('computing (ms)', compute!, '×', [bars.compute], 'native V8', native!),
    ]
  } finally {
    await boxes.close()
  }
}

/**
 * Other programs on the machine are no part of the comparison; where we may not say so, they are.
 */
try {
  setPriority(constants.priority.PRIORITY_HIGHEST)
} catch {}
const figures: Figure[] = []
const absent: string[] = []
for (const place of places) {
  try {
    figures.push(...(await measure(place)))
  } catch (thrown) {
    absent.push(`${place.name}: ${(thrown as AppError).message}`)
  }
}
rmSync(folder, { recursive: true })

if (process.argv.includes('--json')) console.log(JSON.stringify({ starts, calls, rounds, figures, absent }))
else {
  console.log(`${starts} starts, ${rounds} rounds of ${calls} calls`)
  for (const { name, p50, p99, unit, bar, ok, ratio, peer } of figures) {
    const shown = (value: number) => value.toFixed(unit === 'µs' ? 0 : 1)
    const bars = unit === '×' ? `bar ${bar} ×` : `bars ${bar} ${unit}`
    console.log(
      `${ok ? 'ok  ' : 'OVER'} ${name.padEnd(44)} p50 ${shown(p50)}, p99 ${shown(p99)} (${bars}), ${ratio.toFixed(2)} × ${peer}`,
    )
  }
  for (const line of absent) console.log(`none ${line}`)
}
if (figures.some(({ ok }) => !ok)) process.exitCode = 1
