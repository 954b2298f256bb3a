/**
 * Real servers for tests: `node scripts/services.ts up NAME… | down [NAME…] | status`, installed
 * once, on loopback, outside the repository.
 */
import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { isolatedVmVersion } from '#sandbox'
import { installBubblewrap, probeBubblewrap } from './bubblewrap.ts'
import { installChromium, probeChromium } from './chromium.ts'
import { conformance, hosts, mcpServers } from './mcp-servers.ts'
import { installMinio, probeMinio, startMinio } from './minio.ts'
import { installNeo4j, probeNeo4j, startNeo4j } from './neo4j.ts'
import { installPackages, type Packages, probePackages } from './npm-packages.ts'
import { installPeers, probePeers } from './peers.ts'
import { installRunsc, probeRunsc } from './runsc.ts'
import { installLibrary, missingOf } from './script-library.ts'
import { openAddresses, runningServer, stopServer } from './server-process.ts'

/** Where a recipe keeps its files, and how it tells what takes long. */
export type Place = { folder: string; say(line: string): void }

/**
 * One thing that tests need. Each step may be repeated; `ready` answers null, or what is missing in
 * words.
 */
export type Recipe = {
  name: string
  install(place: Place): Promise<void>
  start(place: Place): Promise<void>
  ready(place: Place): Promise<string | null>
  stop(place: Place): Promise<void>
}

const path = process.env.PATH ?? ''

const recipes: Recipe[] = [
  {
    name: 'bubblewrap',
    install: async ({ say }) => installBubblewrap({ path, isRoot: process.getuid?.() === 0, say }),
    start: async () => {},
    ready: async () => probeBubblewrap(path),
    stop: async () => {},
  },
  {
    name: 'chromium',
    install: async ({ say }) => installChromium({ path, isRoot: process.getuid?.() === 0, say }),
    start: async () => {},
    ready: async () => probeChromium(),
    stop: async () => {},
  },
  {
    name: 'runsc',
    install: async ({ folder, say }) => installRunsc({ folder, path, say }),
    start: async () => {},
    ready: async ({ folder }) => probeRunsc(folder),
    stop: async () => {},
  },
  {
    name: 'scripts',
    install: ({ folder, say }) => installLibrary({ folder, say }),
    start: async () => {},
    ready: ({ folder }) => missingOf(folder),
    stop: async () => {},
  },
  {
    name: 'neo4j',
    install: async ({ folder, say }) => installNeo4j({ folder, path, say }),
    start: ({ folder }) => startNeo4j(folder),
    ready: ({ folder }) => probeNeo4j(folder),
    stop: ({ folder }) => stopServer(folder),
  },
  {
    name: 'minio',
    install: async ({ folder, say }) => installMinio({ folder, path, say }),
    start: ({ folder }) => startMinio(folder),
    ready: ({ folder }) => probeMinio(folder),
    stop: ({ folder }) => stopServer(folder),
  },
  fromNpm('mcp-servers', mcpServers),
  fromNpm('hosts', hosts),
  fromNpm('conformance', conformance),
  fromNpm('isolated-vm', { 'isolated-vm': isolatedVmVersion }),
  {
    name: 'peers',
    install: async ({ folder, say }) => installPeers({ folder, path, say }),
    start: async () => {},
    ready: async ({ folder }) => probePeers(folder),
    stop: async () => {},
  },
]

/** Nothing to start: tests do that themselves. */
function fromNpm(name: string, packages: Packages): Recipe {
  return {
    name,
    install: async ({ folder, say }) => installPackages(packages, { folder, path, say }),
    start: async () => {},
    ready: async ({ folder }) => probePackages(packages, folder),
    stop: async () => {},
  }
}

const readyMsMax = 60_000
const lockMsMax = 30 * 60 * 1000

/** Installs and starts what is not there yet, and returns when it answers. */
export async function up(
  recipe: Recipe,
  cache: string,
  say: Place['say'] = () => {},
  msMax = readyMsMax,
): Promise<void> {
  const place = placeOf(recipe, cache, say)
  using _ = lock(place.folder)
  await recipe.install(place)
  await recipe.start(place)
  const until = performance.now() + msMax
  let missing = await recipe.ready(place)
  while (missing !== null && runningServer(place.folder) && performance.now() < until) {
    await sleep(50)
    missing = await recipe.ready(place)
  }
  if (missing !== null) throw new Error(`Cannot use ${recipe.name}: ${missing}`)
  await refuseOpenAddresses(recipe, place)
}

export async function down(recipe: Recipe, cache: string): Promise<void> {
  const place = placeOf(recipe, cache, () => {})
  using _ = lock(place.folder)
  await recipe.stop(place)
}

/** A test server has test passwords: it must not be reachable from elsewhere. */
async function refuseOpenAddresses(recipe: Recipe, place: Place): Promise<void> {
  const running = runningServer(place.folder)
  const open = running ? openAddresses(running.pid) : []
  if (open.length === 0) return
  await recipe.stop(place)
  throw new Error(`Cannot use ${recipe.name}: it listens beyond loopback (${open.join(', ')})`)
}

function placeOf({ name }: Recipe, cache: string, say: Place['say']): Place {
  const folder = join(cache, name)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return { folder, say }
}

/**
 * Held by the kernel for as long as we live, so that two commands at once install once, and a
 * killed one blocks no other.
 */
function lock(folder: string): Disposable {
  const database = new DatabaseSync(join(folder, 'lock.db'), { timeout: lockMsMax })
  database.exec('BEGIN EXCLUSIVE')
  return { [Symbol.dispose]: () => database.close() }
}

function chosen(names: string[]): Recipe[] {
  return names.map((name) => {
    const recipe = recipes.find((each) => each.name === name)
    if (recipe) return recipe
    throw new Error(`Cannot find "${name}": there is ${recipes.map((each) => each.name).join(', ')}`)
  })
}

async function main([command, ...names]: string[], cache: string): Promise<void> {
  const all = names.length > 0 ? chosen(names) : recipes
  if (command === 'up' && names.length > 0) {
    for (const recipe of all) {
      await up(recipe, cache, (line) => console.error(`${recipe.name}: ${line}`))
      console.log(`${recipe.name}: ready`)
    }
  } else if (command === 'down') {
    for (const recipe of all) await down(recipe, cache)
  } else if (command === 'status') {
    for (const recipe of all)
      console.log(`${recipe.name}: ${(await recipe.ready(placeOf(recipe, cache, () => {}))) ?? 'ready'}`)
  } else {
    console.error('usage: node scripts/services.ts up NAME… | down [NAME…] | status')
    process.exitCode = 2
  }
}

if (import.meta.main) {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'metier', 'services')
  try {
    await main(process.argv.slice(2), cache)
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
  }
}
