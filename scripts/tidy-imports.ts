/**
 * The rules about who may import whom: down the list of folders, through front doors, without
 * cycles.
 */
import { dirname, join, normalize } from 'node:path'
import { blank } from './blank.ts'

/** From top to bottom: a folder imports only what stands below it. */
export const folders = [
  'show',
  'gateway',
  'fleet',
  'agent',
  'verbs',
  'learn',
  'run',
  'catalog',
  'sandbox',
  'tasks',
  'record',
  'model',
] as const

/**
 * Folders that reach the world through the verbs alone, and all that they may import: what they
 * need of a store, a catalogue, an engine or a box is a verb.
 */
const throughVerbs: Partial<Record<string, readonly string[]>> = {
  show: ['agent', 'gateway', 'verbs', 'sandbox', 'model'],
  gateway: ['verbs', 'model'],
}

/**
 * The rooms of a large folder, from top to bottom. A room has a door of its own (`#run/dag` is
 * src/run/dag/dag.ts), for its own folder only: the folder's files take any of its rooms, a room
 * takes the rooms below it.
 */
export const rooms: Partial<Record<(typeof folders)[number], readonly string[]>> = {
  show: ['demo', 'agent', 'serve', 'setup', 'tools', 'runs', 'approvals', 'record', 'learn', 'tasks', 'text', 'cli'],
  gateway: ['passthrough', 'mcp', 'elicitation', 'api', 'auth', 'http'],
  agent: ['session', 'workspace', 'protocol', 'models'],
  verbs: ['decisions', 'execute', 'learning', 'preview', 'result', 'views', 'text', 'input'],
  learn: [
    'graph',
    'capabilities',
    'suggestion',
    'attention',
    'plans',
    'intents',
    'fields',
    'lessons',
    'models',
    'text',
  ],
  run: ['explore', 'state', 'start', 'calls', 'program', 'record', 'dag', 'policy', 'structure', 'schema', 'input'],
  catalog: [
    'built-in-tools',
    'graph-tools',
    'built-in',
    'upstream',
    'definitions',
    'mcp',
    'wire',
    'processes',
    'oauth',
    'search',
    'index',
    'schema',
    'tool-server',
  ],
  sandbox: ['server-box', 'prepare', 'script', 'script-box', 'host'],
  tasks: ['projection', 'database', 'terms'],
  model: ['configuration', 'terms', 'primitives', 'limits'],
  record: ['export', 'verify', 'writer', 'ledger', 'secrets', 'artifacts', 'disk'],
}

export type Source = { file: string; text: string }
export type Problem = { file: string; line: number; problem: string }
type Import = { specifier: string; line: number }

/** Static, re-exported, bare and dynamic imports, with or without a type. */
export function importsOf(text: string): Import[] {
  const found: Import[] = []
  for (const match of blank(text).matchAll(/(?<![.\w$])(?:from|import)\s*\(?\s*(['"`])( *)\1/g)) {
    const start = match.index + match[0].length - match[2]!.length - 1
    found.push({ specifier: text.slice(start, start + match[2]!.length), line: lineAt(text, start) })
  }
  return found
}

export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}

/** What the product consists of; tests, scripts, benches and examples may do more. */
export function isShipped(file: string): boolean {
  return file.startsWith('src/') && !file.endsWith('.test.ts')
}

/** Everything that is wrong with the imports of these files. */
export function checkImports(sources: Source[], packages: { runtime: Set<string>; all: Set<string> }): Problem[] {
  const problems: Problem[] = []
  const graph = new Map<string, string[]>()
  for (const { file, text } of sources) {
    const targets: string[] = []
    for (const { specifier, line } of importsOf(text)) {
      const problem = refusal(file, specifier, packages)
      if (problem) problems.push({ file, line, problem: `${problem}: '${specifier}'` })
      const target = resolve(file, specifier)
      if (target) targets.push(target)
    }
    graph.set(file, targets)
  }
  for (const cycle of cycles(graph)) {
    problems.push({ file: cycle[0]!, line: 1, problem: `imports itself: ${[...cycle, cycle[0]].join(' > ')}` })
  }
  return problems
}

/** Why this file may not import that; null where it may. */
function refusal(file: string, specifier: string, packages: { runtime: Set<string>; all: Set<string> }): string | null {
  if (specifier.startsWith('node:')) return null
  if (specifier.split('/').includes('..')) return 'climbs out of its folder'
  if (specifier.startsWith('./')) return refusalOfSibling(file, specifier)
  if (specifier.startsWith('#')) return refusalOfDoor(file, specifier.slice(1))
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
  const known = isShipped(file) ? packages.runtime : packages.all
  return known.has(name) ? null : 'imports a package that package.json does not name'
}

function refusalOfSibling(file: string, specifier: string): string | null {
  const [, folder, ...inside] = file.split('/')
  if (inside.length === 1 && rooms[folder as keyof typeof rooms]?.includes(specifier.split('/')[1]!))
    return 'imports a file inside a room instead of its door'
  if (dirname(file) === 'src' && specifier.split('/').length > 2)
    return 'imports a file inside a folder instead of its front door'
  if (isShipped(file) && specifier.endsWith('.test.ts')) return 'imports a test'
  return /\.(ts|json)$/.test(specifier) ? null : 'imports a file without its extension'
}

function refusalOfDoor(file: string, door: string): string | null {
  if (door === 'package') return null
  if (isTestDoor(door)) return isShipped(file) ? 'imports what only tests may' : null
  const [folder, room] = door.split('/') as [string, string?]
  if (room !== undefined) return refusalOfRoom(file, folder, room)
  const below = folders.indexOf(folder as (typeof folders)[number])
  if (below < 0) return 'imports something that is no front door'
  const own = folders.indexOf(file.split('/')[1] as (typeof folders)[number])
  if (!isShipped(file) || dirname(file) === 'src') return null
  const only = throughVerbs[file.split('/')[1]!]
  if (only !== undefined && below > own && !only.includes(folder)) return 'reaches past the verbs'
  return below > own ? null : `may not import up or sideways (${folders.join(' > ')})`
}

/** Helpers of tests: of all, of one folder's (`#test/gateway`), and of those with real servers. */
function isTestDoor(door: string): boolean {
  const [top, folder, ...deeper] = door.split('/')
  if (top !== 'test' || deeper.length > 0) return false
  return folder === undefined || folder === 'services' || folders.includes(folder as (typeof folders)[number])
}

function refusalOfRoom(file: string, folder: string, room: string): string | null {
  const order = rooms[folder as keyof typeof rooms] ?? []
  if (!order.includes(room)) return 'imports something that is no door'
  if (!isShipped(file)) return null
  const [, own, ...inside] = file.split('/')
  if (own !== folder) return 'imports a room of another folder'
  const above = inside.length > 1 ? order.indexOf(inside[0]!) : -1
  return order.indexOf(room) > above ? null : `may not import up or sideways (${folder}: ${order.join(' > ')})`
}

export function resolve(file: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return normalize(join(dirname(file), specifier))
  return specifier.startsWith('#') ? doorFile(specifier.slice(1)) : null
}

/** Where a name of the imports map must lead. */
export function doorFile(door: string): string {
  if (door === 'package') return 'package.json'
  return `${isTestDoor(door) ? '' : 'src/'}${door}/${door.split('/').at(-1)}.ts`
}

/** One cycle for each file that closes one, found depth first. */
function cycles(graph: Map<string, string[]>): string[][] {
  const found: string[][] = []
  const done = new Set<string>()
  const visit = (file: string, path: string[]) => {
    const seen = path.indexOf(file)
    if (seen >= 0) found.push(path.slice(seen))
    if (seen >= 0 || done.has(file)) return
    for (const target of graph.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of graph.keys()) visit(file, [])
  return found
}
