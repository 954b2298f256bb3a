/**
 * This tree against another one of this repository: both do the same work by turns, so that a noisy
 * minute hits both, and each round gives one ratio for each figure. `npm run bench -- run peers
 * --against FOLDER [--rounds 7]`; the folder is a worktree of another commit, with its packages
 * installed.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { median } from './peers/chain.ts'

/** What both trees can run; of `peers`, our own side. */
const workloads: Record<string, string[][]> = {
  run: [['run.ts', '--json']],
  dag: [['dag.ts', '--json']],
  recover: [['recover.ts', '--json']],
  peers: [
    ['peers/metier.ts', 'graph', '640'],
    ['peers/metier.ts', 'program', '640'],
  ],
}

/** The figures of a row that are compared, and whether more of it is better. */
const isMoreBetter = { perSecond: true, share: true, seconds: false, cpuUs: false, cpuTicks: false, residentMb: false }
type Figure = keyof typeof isMoreBetter
type Row = { name?: string; form?: string } & Partial<Record<Figure, number>>

/**
 * Prints how many times the cost of the other tree this one has; false when it is slower in more
 * rounds than chance explains. Where other programs take the processors, CPU says more than time.
 */
export function against(other: string, names: string[], rounds: number): boolean {
  const unknown = names.filter((name) => !(name in workloads))
  if (unknown.length > 0) throw new Error(`Cannot compare ${unknown}: there are ${Object.keys(workloads).join(', ')}`)
  const own = dirname(import.meta.dirname)
  let isSlower = false
  for (const command of names.flatMap((name) => workloads[name]!)) {
    const ratios = new Map<string, number[]>()
    for (let round = 0; round < rounds; round++) {
      const first = round % 2 === 0 ? own : other
      const rows = rowsOf(first, command)
      const next = rowsOf(first === own ? other : own, command)
      const [ours, theirs] = first === own ? [rows, next] : [next, rows]
      for (const [at, row] of ours.entries()) compare(row, theirs[at]!, command, ratios)
    }
    for (const [figure, list] of ratios) isSlower = report(figure, list) || isSlower
  }
  return !isSlower
}

function rowsOf(tree: string, [file, ...args]: string[]): Row[] {
  const words = ['--disable-warning=ExperimentalWarning', join(tree, 'bench', file!), ...args]
  const before = cpuOfChildren()
  // A bar of its own that it misses ends it with 1; what it measured counts here.
  const { stdout, status } = spawnSync(process.execPath, words, { cwd: tree, stdio: ['ignore', 'pipe', 'inherit'] })
  const cpuTicks = cpuOfChildren() - before
  const last = stdout.toString().trim().split('\n').at(-1)!
  if (last === '') throw new Error(`${file} of ${tree} ended with ${status}, and measured nothing`)
  const rows = JSON.parse(last) as Row | Row[]
  return [...(Array.isArray(rows) ? rows : [rows]), { name: [file, ...args].join(' '), cpuTicks }]
}

/** Of all that were waited for, boxes and servers included; 0 where the system does not say. */
function cpuOfChildren(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')
    return Number(fields[13]) + Number(fields[14])
  } catch {
    return 0
  }
}

function compare(ours: Row, theirs: Row, command: string[], ratios: Map<string, number[]>): void {
  for (const [figure, isMore] of Object.entries(isMoreBetter) as [Figure, boolean][]) {
    const [a, b] = [ours[figure], theirs[figure]]
    if (!a || !b) continue
    const name = `${ours.name ?? ours.form ?? command.slice(0, 2).join(' ')}, ${figure}`
    ratios.set(name, [...(ratios.get(name) ?? []), isMore ? b / a : a / b])
  }
}

/**
 * The median, and where it lies in at least nine of ten such comparisons; true when that is above
 * 1.
 */
function report(name: string, ratios: number[]): boolean {
  const sorted = ratios.toSorted((a, b) => a - b)
  const beyond = signBound(sorted.length)
  const [low, high] = [sorted[beyond]!, sorted.at(-1 - beyond)!]
  const isSlower = sorted.length > 4 && low > 1
  const all = sorted.map((ratio) => ratio.toFixed(2)).join(' ')
  const figures = `${median(sorted).toFixed(2)} times the cost  (${low.toFixed(2)} to ${high.toFixed(2)}; rounds: ${all})`
  console.log(`${isSlower ? 'SLOWER' : 'ok    '} ${name.padEnd(56)} ${figures}`)
  return isSlower
}

/**
 * How many of `n` ratios may lie outside on each side: the median is beyond one of the sides in 5 %
 * of cases at most.
 */
function signBound(n: number): number {
  let chance = 0.5 ** n
  let sum = chance
  let beyond = 0
  while (true) {
    chance *= (n - beyond) / (beyond + 1)
    sum += chance
    if (sum > 0.05) return beyond
    beyond += 1
  }
}
