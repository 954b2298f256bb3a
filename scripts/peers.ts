/**
 * The recipe for other durable engines, which the bench of runs is compared with: installed once
 * from npm, each in a folder of its own.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installMsMax, installPackages, type Packages, type PackagesPlace, probePackages } from './npm-packages.ts'

/** Together they would pull each other to older versions. */
const peers: Record<string, Packages> = {
  dbos: { '@dbos-inc/dbos-sdk': '5.3.0' },
  restate: {
    '@restatedev/restate-server': '1.7.12',
    '@restatedev/restate-sdk': '1.17.2',
    '@restatedev/restate-sdk-clients': '1.17.2',
  },
  langgraph: {
    '@langchain/langgraph': '1.4.18',
    '@langchain/langgraph-checkpoint-sqlite': '1.0.4',
    '@langchain/core': '1.2.13',
  },
  mastra: { '@mastra/core': '1.71.0', '@mastra/libsql': '1.23.1', zod: '4.6.7' },
}

/** Drivers that are compiled after the install, for the Node whose headers this machine has. */
const builds: Record<string, string> = { langgraph: 'better-sqlite3' }

/** One that cannot be installed is told and left out: the bench names it. */
export function installPeers({ folder, path, say, msMax = installMsMax }: PackagesPlace): void {
  for (const [name, packages] of Object.entries(peers)) {
    const place = join(folder, name)
    mkdirSync(place, { recursive: true })
    try {
      installPackages(packages, { folder: place, path, say: (line) => say(`${name}: ${line}`), msMax })
      if (builds[name] !== undefined) build(place, builds[name], path, say)
    } catch (error) {
      say(`${name} is missing: ${(error as Error).message.slice(-500)}`)
    }
  }
}

function build(place: string, driver: string, path: string, say: PackagesPlace['say']): void {
  const built = join(place, `${driver}.built`)
  if (existsSync(built)) return
  say(`compiling ${driver} (once)`)
  const options = { cwd: join(place, 'current'), env: { ...process.env, PATH: path }, encoding: 'utf8' as const }
  const bounded = { timeout: installMsMax, killSignal: 'SIGKILL' as const }
  const { status, stderr } = spawnSync('npm', ['rebuild', driver, '--loglevel=error'], { ...options, ...bounded })
  rmSync(built, { force: true })
  if (status === 0) writeFileSync(built, '')
  else throw new Error(`Cannot compile ${driver}: ${stderr.trim()}`)
}

export function probePeers(folder: string): string | null {
  const missing = Object.entries(peers).filter(
    ([name, packages]) => probePackages(packages, join(folder, name)) !== null,
  )
  return missing.length === 0 ? null : `${missing.map(([name]) => name).join(', ')} not installed`
}
