/**
 * What a script's box costs: from handing a script over to its first byte and to its result, in a
 * box that waited and in a new one, at each tier, against the bare interpreter in the same run.
 * Takes `--json` and `--quick`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openScriptBoxes, type ScriptTier } from '#sandbox'

const quick = process.argv.includes('--quick')
const samples = quick ? 20 : 200
const coldSamples = quick ? 5 : 40
const settleMs = 150

type Times = { first: number[]; result: number[] }
type Figure = { name: string; p50: number; p99: number; bar: string; ok: boolean; ratio: number | null }

const languages = {
  python: { command: ['/usr/bin/python3', '-'], script: 'print(1)' },
  bash: { command: ['/bin/bash', '-s'], script: 'echo 1' },
} as const
type Language = keyof typeof languages

/**
 * From the notes: first byte and result of a box that waited, result of a new one, and from the
 * deadline to nothing alive.
 */
const bars: Record<ScriptTier, { first: number[]; result: number[]; cold: number[]; stop: number[] }> = {
  os: { first: [3, 20], result: [30, 200], cold: [60, 100], stop: [100, 500] },
  gvisor: { first: [5, 50], result: [30, 200], cold: [350, 600], stop: [100, 500] },
}

/** The interpreter alone, already waiting on its input or not. */
async function bare(language: Language, isWaiting: boolean, times: Times): Promise<void> {
  const { command, script } = languages[language]
  const began = performance.now()
  const child = spawn(command[0], [command[1]], { stdio: ['pipe', 'pipe', 'inherit'], env: {} })
  if (isWaiting) await pause(settleMs)
  const handed = isWaiting ? performance.now() : began
  const gone = once(child, 'close')
  child.stdout.once('data', () => times.first.push(performance.now() - handed))
  child.stdin.end(script)
  await gone
  times.result.push(performance.now() - handed)
}

async function boxed(tier: ScriptTier, language: Language, times: Times): Promise<void> {
  const { script } = languages[language]
  await boxes.warm(language, tier)
  await pause(settleMs)
  const began = performance.now()
  const { firstByteMs } = await boxes.run({ interpreter: language, script, tier })
  times.first.push(firstByteMs!)
  times.result.push(performance.now() - began)
}

/** Without a pool: the box is opened when the script is there. */
async function cold(tier: ScriptTier, language: Language): Promise<number> {
  const began = performance.now()
  await unpooled.run({ interpreter: language, script: languages[language].script, tier })
  return performance.now() - began
}

async function stopping(tier: ScriptTier): Promise<number> {
  await boxes.warm('bash', tier)
  await pause(settleMs)
  const began = performance.now()
  const script = 'trap "" TERM; while :; do :; done'
  await boxes.run({ interpreter: 'bash', script, tier, timeoutSeconds: 0.3 }).catch(() => {})
  return performance.now() - began - 300
}

function quantile(values: number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(share * values.length) - 1)]!
}

function figure(name: string, values: number[], [p50Max, p99Max]: number[], peer: number[] | null): Figure {
  const [p50, p99] = [quantile(values, 0.5), quantile(values, 0.99)]
  const ratio = peer ? p50 / quantile(peer, 0.5) : null
  return { name, p50, p99, bar: `${p50Max} / ${p99Max}`, ok: p50 <= p50Max! && p99 <= p99Max!, ratio }
}

const empty = (): Times => ({ first: [], result: [] })

async function measure(tiers: ScriptTier[], language: Language): Promise<Figure[]> {
  const alone = empty()
  const aloneCold = empty()
  const inBox = new Map(tiers.map((tier) => [tier, empty()]))
  const coldTimes = new Map(tiers.map((tier): [ScriptTier, number[]] => [tier, []]))
  for (let i = 0; i < samples; i++) {
    await bare(language, true, alone)
    for (const tier of tiers) await boxed(tier, language, inBox.get(tier)!)
    if (i >= coldSamples) continue
    await bare(language, false, aloneCold)
    for (const tier of tiers) coldTimes.get(tier)!.push(await cold(tier, language))
  }
  return tiers.flatMap((tier) => {
    const { first, result } = inBox.get(tier)!
    return [
      figure(`${tier} ${language}: waiting, first byte`, first, bars[tier].first, alone.first),
      figure(`${tier} ${language}: waiting, result`, result, bars[tier].result, alone.result),
      figure(`${tier} ${language}: new, result`, coldTimes.get(tier)!, bars[tier].cold, aloneCold.result),
    ]
  })
}

/**
 * Other programs on the machine are no part of the comparison; where we may not say so, they are.
 */
try {
  setPriority(constants.priority.PRIORITY_HIGHEST)
} catch {}
const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
const boxes = openScriptBoxes({ folder })
const unpooled = openScriptBoxes({ folder, poolSize: 0 })
const tiers = (await boxes.test()).tiers.filter(({ ok }) => ok).map(({ tier }) => tier)
await boxes.accept('os')

const figures: Figure[] = []
for (const language of ['python', 'bash'] as const) figures.push(...(await measure(tiers, language)))
for (const tier of tiers) {
  const times: number[] = []
  for (let i = 0; i < coldSamples; i++) times.push(await stopping(tier))
  figures.push(figure(`${tier}: from the deadline to nothing alive`, times, bars[tier].stop, null))
}
await unpooled.close()
await boxes.close()
rmSync(folder, { recursive: true })

if (process.argv.includes('--json')) console.log(JSON.stringify({ samples, coldSamples, figures }))
else {
  console.log(`${samples} scripts in boxes that waited, ${coldSamples} in new ones; milliseconds`)
  for (const { name, p50, p99, bar, ok, ratio } of figures) {
    const peer = ratio === null ? '' : `, ${ratio.toFixed(1)} × the bare interpreter`
    console.log(
      `${ok ? 'ok  ' : 'OVER'} ${name.padEnd(40)} p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} (bars ${bar})${peer}`,
    )
  }
}
if (figures.some(({ ok }) => !ok)) process.exitCode = 1
