/**
 * The start of a command as a user meets it: commands that only look, through bin/metier of the
 * packed package and of this checkout, each against `node -e 0` on the same Node, interleaved, so
 * that what else the machine does hits all of them alike. The bar is three times that.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseConfig } from '#model'
import { openVerbs } from '#verbs'

const rounds = 20
const ratioMax = 3
const root = fileURLToPath(new URL('.', import.meta.resolve('#package')))
/** The package finds the same Node as the system's. */
const PATH = [dirname(process.execPath), process.env.PATH!].join(delimiter)

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
  const binaries = { package: join(packed(), 'bin/metier'), checkout: join(root, 'bin/metier') }
  const lines = Object.entries(binaries).flatMap(([name, binary]) =>
    commands.map((words) => ({ name: `${name}: ${nameOf(words, run)}`, command: [binary, ...words] })),
  )
  const all = [[process.execPath, '-e', '0'], ...lines.map(({ command }) => command)]
  const times = all.map((): number[] => [])
  // The first round fills the compile cache and is not counted.
  for (let round = 0; round <= rounds; round++) {
    for (const [index, words] of all.entries()) {
      const ms = timeOf(words, { METIER_CONFIG: file, METIER_HOME: home, HOME: folder })
      if (round > 0) times[index]!.push(ms)
    }
  }
  const [base, ...medians] = times.map(median)
  console.log(`node -e 0: ${base!.toFixed(0)} ms, the median of ${rounds}; at most ${ratioMax} times that:`)
  for (const [index, ms] of medians.entries()) {
    const ratio = ms / base!
    const verdict = ratio <= ratioMax ? 'ok' : 'MISSED'
    console.log(`${verdict}  ${lines[index]!.name}: ${ms.toFixed(0)} ms, ${ratio.toFixed(2)} times`)
    if (ratio > ratioMax) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** The package as npm packs it, with the dependencies of this checkout beside it. */
function packed(): string {
  const pack = ['pack', '--pack-destination', folder, '--loglevel=error']
  for (const [command, args, cwd] of [
    ['npm', pack, root],
    ['sh', ['-c', 'tar -xzf metier-*.tgz'], folder],
  ] as const) {
    const { status, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
    if (status !== 0) throw new Error(`${command} failed: ${stderr}`)
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return join(folder, 'package')
}

function nameOf(words: readonly string[], run: string): string {
  return words.map((word) => (word === run ? 'RUN' : word)).join(' ')
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

function timeOf([command, ...words]: string[], env: Record<string, string>): number {
  const began = performance.now()
  const { status, stderr } = spawnSync(command!, words, { env: { PATH, ...env } })
  if (status !== 0) throw new Error(`${command} ${words.join(' ')} failed: ${stderr}`)
  return performance.now() - began
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!
}
