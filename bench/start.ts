/**
 * The start of a command: commands that only look, each against `node -e 0` on the same Node, interleaved, so that what else
 * the machine does hits all of them alike. The bar is three times that.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseConfig } from '#model'
import { openVerbs } from '#verbs'

const rounds = 20
const ratioMax = 3
const launcher = fileURLToPath(new URL('bin/checkout.mjs', import.meta.resolve('#package')))
/** As bin/metier gives them. */
const flags = ['--disable-warning=ExperimentalWarning', '--v8-pool-size=1', '--min-semi-space-size=16']

const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
try {
  const file = join(folder, 'metier.json')
  writeFileSync(file, '{}')
  const home = join(folder, 'home')
  const run = await oneRun(file, home)
  const commands = [
    ['version'],
    ['help'],
    ['runs'],
    ['run', 'show', run],
    ['result', run],
    ['approvals'],
    ['policy'],
    ['audit', 'show', run],
    ['audit', 'verify'],
  ]
  const lines = [['-e', '0'], ...commands.map((words) => [...flags, launcher, ...words])]
  const times = lines.map((): number[] => [])
  // The first round fills the compile cache and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const [index, words] of lines.entries()) {
      const ms = timeOf(words, { METIER_CONFIG: file, METIER_HOME: home, HOME: folder })
      if (round > 0) times[index]!.push(ms)
    }
  }
  const [base, ...medians] = times.map(median)
  console.log(`node -e 0: ${base!.toFixed(0)} ms, the median of ${rounds}; at most ${ratioMax} times that:`)
  for (const [index, ms] of medians.entries()) {
    const ratio = ms / base!
    const name = commands[index]!.map((word) => (word === run ? 'RUN' : word)).join(' ')
    console.log(`${ratio <= ratioMax ? 'ok' : 'MISSED'}  ${name}: ${ms.toFixed(0)} ms, ${ratio.toFixed(2)} times`)
    if (ratio > ratioMax) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** A finished run of a program, so that there is something to show. */
async function oneRun(file: string, home: string): Promise<string> {
  const config = parseConfig({ file, text: '{}', home, env: {}, directory: folder })
  const verbs = await openVerbs(config, { path: process.env.PATH! })
  try {
    const input = { implementation: { type: 'code', code: 'return args.length' }, args: [1, 2, 3] }
    const { run } = await verbs.execute(input, { actor: { kind: 'cli', name: 'bench' }, waitMs: null })
    return String(run)
  } finally {
    await verbs.close()
  }
}

function timeOf(words: string[], env: Record<string, string>): number {
  const began = performance.now()
  const { status, stderr } = spawnSync(process.execPath, words, { env: { PATH: process.env.PATH!, ...env } })
  if (status !== 0) throw new Error(`node ${words.join(' ')} failed: ${stderr}`)
  return performance.now() - began
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!
}
