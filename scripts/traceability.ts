/**
 * Checks docs/traceability.md: every requirement has one line, and every claim in it a module and a
 * test that exist. Then the invariants.
 */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { checkInvariants } from './invariants.ts'
import { folders } from './tidy-imports.ts'

/** By specification: an id, or an id of a group with the names that its line must say. */
type Requirements = Record<string, (string | { id: string; names: string[] })[]>
type Row = { line: number; id: string; text: string; spec: string; modules: string[]; tests: string[]; status: string }
type Demand = { id: string; spec: string; names: string[] }

const page = 'docs/traceability.md'
const statuses = ['Planned', 'Partial', 'Implemented']

/** Everything that is wrong with the page under `root`, one line each. */
export function checkTraceability(root: string): string[] {
  const rows = rowsOf(readFileSync(join(root, page), 'utf8'))
  const demands = demandsOf(root)
  const problems = demands
    .filter(({ id }) => !rows.some((row) => row.id === id))
    .map(({ id }) => `${page}:1: "${id}" has no line`)
  for (const [index, row] of rows.entries()) {
    const say = (problem: string) => problems.push(`${page}:${row.line}: "${row.id}" ${problem}`)
    const demand = demands.find(({ id }) => id === row.id)
    if (!demand) say('is no requirement of scripts/requirements.json')
    else if (row.spec !== demand.spec) say(`is of ${demand.spec}, not of ${row.spec}`)
    for (const name of demand?.names ?? []) if (!row.text.includes(`\`${name}\``)) say(`does not say \`${name}\``)
    if (rows.findIndex(({ id }) => id === row.id) < index) say('has a second line')
    for (const problem of claimProblems(row, root)) say(problem)
  }
  return problems
}

function claimProblems({ modules, tests, status }: Row, root: string): string[] {
  if (!statuses.includes(status)) return [`is "${status}", not one of ${statuses.join(', ')}`]
  if (modules.length === 0) return ['names no module']
  if (status === 'Planned') {
    const elsewhere = modules.filter((module) => !folders.some((folder) => module.startsWith(`src/${folder}/`)))
    return elsewhere.map((module) => `is planned for ${module}, which is no folder of the design`)
  }
  if (tests.length === 0) return [`is ${status} without a test`]
  return [...modules, ...tests]
    .filter((path) => !existsSync(join(root, path)))
    .map((path) => `names ${path}, which does not exist`)
}

/** The lines of the tables; the first words in backticks are the id. */
function rowsOf(text: string): Row[] {
  return text.split('\n').flatMap((line, index) => {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    const id = /^`([^`]+)`/.exec(cells[1] ?? '')?.[1]
    if (id === undefined) return []
    const [, requirement = '', spec = '', module = '', test = '', status = ''] = cells
    const paths = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)
    const row = { line: index + 1, id, text: requirement, spec: spec.split(' ', 1)[0]!, status }
    return [{ ...row, modules: paths(module), tests: paths(test) }]
  })
}

function demandsOf(root: string): Demand[] {
  const requirements = JSON.parse(readFileSync(join(root, 'scripts/requirements.json'), 'utf8')) as Requirements
  return Object.entries(requirements).flatMap(([spec, entries]) =>
    entries.map((entry) => (typeof entry === 'string' ? { id: entry, spec, names: [] } : { ...entry, spec })),
  )
}

if (import.meta.main) {
  const root = dirname(import.meta.dirname)
  const problems = [...checkTraceability(root), ...checkInvariants(root)]
  for (const problem of problems) console.log(problem)
  const rows = rowsOf(readFileSync(join(root, page), 'utf8'))
  const count = (status: string) => `${rows.filter((row) => row.status === status).length} ${status}`
  console.log(
    `traceability: ${problems.length} problems; ${rows.length} requirements, ${statuses.map(count).join(', ')}`,
  )
  process.exitCode = problems.length > 0 ? 1 : 0
}
