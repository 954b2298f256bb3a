/** The recipe for other durable engines, which the bench of runs is compared with: installed once from npm, each in a folder of its own. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `builds` where a package compiles its own driver for the Node that runs npm. */
type Peer = { packages: Record<string, string>; builds: boolean }

/** Together they would pull each other to older versions. */
const peers: Record<string, Peer> = {
  dbos: { packages: { '@dbos-inc/dbos-sdk': '5.3.0' }, builds: false },
  restate: {
    packages: {
      '@restatedev/restate-server': '1.7.12',
      '@restatedev/restate-sdk': '1.17.2',
      '@restatedev/restate-sdk-clients': '1.17.2',
    },
    builds: false,
  },
  langgraph: {
    packages: {
      '@langchain/langgraph': '1.4.18',
      '@langchain/langgraph-checkpoint-sqlite': '1.0.4',
      '@langchain/core': '1.2.13',
    },
    builds: true,
  },
  mastra: { packages: { '@mastra/core': '1.71.0', '@mastra/libsql': '1.23.1', zod: '4.6.7' }, builds: false },
}

export type PeersPlace = { folder: string; path: string; say(line: string): void }

/** One that cannot be installed is told and left out: the bench names it. */
export function installPeers({ folder, path, say }: PeersPlace): void {
  for (const [name, peer] of Object.entries(peers)) {
    if (isInstalled(folder, name, peer)) continue
    say(`installing ${name} from npm (once)`)
    const problem = install(join(folder, name), peer, path)
    if (problem !== null) say(`cannot install ${name}: ${problem}`)
  }
}

/** Beside its place first, so that a killed install leaves nothing that looks ready. */
function install(target: string, peer: Peer, path: string): string | null {
  mkdirSync(join(target, '..'), { recursive: true })
  const draft = mkdtempSync(`${target}-install-`)
  try {
    writeFileSync(join(draft, 'package.json'), manifestOf(peer))
    const scripts = peer.builds ? [] : ['--ignore-scripts']
    const args = ['install', ...scripts, '--no-audit', '--no-fund', '--loglevel=error']
    const { status, stderr } = spawnSync('npm', args, {
      cwd: draft,
      env: { ...process.env, PATH: path },
      encoding: 'utf8',
    })
    if (status !== 0) return stderr.trim().slice(-500)
    rmSync(target, { recursive: true, force: true })
    renameSync(draft, target)
    return null
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function isInstalled(folder: string, name: string, peer: Peer): boolean {
  const file = join(folder, name, 'package.json')
  return existsSync(file) && readFileSync(file, 'utf8') === manifestOf(peer)
}

function manifestOf({ packages }: Peer): string {
  return `${JSON.stringify({ private: true, type: 'module', dependencies: packages }, null, 2)}\n`
}

export function probePeers(folder: string): string | null {
  const missing = Object.entries(peers).flatMap(([name, peer]) => (isInstalled(folder, name, peer) ? [] : [name]))
  return missing.length === 0 ? null : `${missing.join(', ')} not installed`
}
