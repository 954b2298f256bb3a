/** Reading the sets of a bench folder, and the bars that a bench prints. */
import { existsSync, readFileSync } from 'node:fs'

export function readLines<Line>(file: string): Line[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line): Line => JSON.parse(line))
}

/** Precision, recall and F1 in percent, and how often everything was right. */
export type Score = { precision: number; recall: number; f1: number; exact: number }

/** Scores sets of found things against sets of true ones, counted together over all cases. */
export function scoreSets(cases: Iterable<{ found: Set<string>; truth: Set<string> }>): Score {
  let [hits, wrong, missed, exact, count] = [0, 0, 0, 0, 0]
  for (const { found, truth } of cases) {
    const right = found.intersection(truth).size
    hits += right
    wrong += found.size - right
    missed += truth.size - right
    exact += Number(right === found.size && right === truth.size)
    count++
  }
  return {
    precision: (100 * hits) / Math.max(1, hits + wrong),
    recall: (100 * hits) / Math.max(1, hits + missed),
    f1: (200 * hits) / Math.max(1, 2 * hits + wrong + missed),
    exact: (100 * exact) / Math.max(1, count),
  }
}

/** One line of a section: a method and its figures. */
export type Row = { name: string; figures: Record<string, number> }
export type Bar = { what: string; value: number; least?: number; most?: number }
export type Section = { title: string; rows: Row[]; bars: Bar[] }

export const isMet = ({ value, least = -Infinity, most = Infinity }: Bar) => value >= least && value <= most

export function printSection({ title, rows, bars }: Section): void {
  console.log(`\n${title}`)
  for (const { name, figures } of rows) {
    const text = Object.entries(figures).map(([key, value]) => `${key} ${value.toFixed(1)}`)
    console.log(`  ${name.padEnd(34)} ${text.join('  ')}`)
  }
  for (const bar of bars) {
    const bound = bar.least === undefined ? `≤ ${bar.most}` : `≥ ${bar.least.toFixed(1)}`
    console.log(`  ${isMet(bar) ? 'met   ' : 'MISSED'} ${bar.what}: ${bar.value.toFixed(2)} (${bound})`)
  }
}
