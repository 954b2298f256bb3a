/**
 * Decides by trying which tiers exist on this machine, remembers it for as long as nothing changed,
 * and says what is missing.
 */

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type IsolationReport, replaceFile, sha256 } from '#model'
import {
  type Filter,
  hostPath,
  type MissingTier,
  notHolding,
  notInstalled,
  type ScriptTier,
  writeFilter,
} from '#sandbox/host'
import { bubblewrapDriver, type Driver, gvisorDriver, platforms } from '#sandbox/script-box'
import type { BoxFactory } from './box-factory.ts'
import { reportOf } from './report.ts'
import { selfTest } from './self-test.ts'

export type OpenTier = { tier: ScriptTier; ok: true; detail: string; driver: Driver; report: IsolationReport }

type TierOptions = {
  factory: BoxFactory
  tier: ScriptTier
  /** null: it is not there. */
  binary: string | null
  filter: Filter
  /** Tried again, whatever is remembered. */
  isRetest: boolean
}

type TierRecord = { key: string; driver: number; weaknesses: string[] }

export async function tryTier({
  factory,
  tier,
  binary,
  filter,
  isRetest,
}: TierOptions): Promise<OpenTier | MissingTier> {
  if (binary === null) return notInstalled(tier)
  const drivers = driversOf(tier, factory, binary, filter)
  const digest = await digestOf(binary)
  const circumstances = [digest, codeDigest(), release(), process.getuid?.(), factory.view, factory.places, filter]
  const key = sha256(JSON.stringify(circumstances))
  const opened = async (driver: number, weaknesses: string[]): Promise<OpenTier> => {
    const version = await versionOf(binary, digest)
    const report = reportOf(drivers[driver]!, { version, places: factory.places, weaknesses })
    return {
      tier,
      ok: true,
      detail: `${report.runtime.name} ${version} with ${report.layers.slice(1).join(', ')}`,
      driver: drivers[driver]!,
      report,
    }
  }
  const known = isRetest ? null : readKnown(factory.folder, tier)
  if (known?.key === key && drivers[known.driver]) return opened(known.driver, known.weaknesses)

  const faults: string[] = []
  for (const [at, driver] of drivers.entries()) {
    const tested = await selfTest(factory, driver)
    if (tested.faults.length === 0) {
      writeKnown(factory.folder, tier, { key, driver: at, weaknesses: tested.weaknesses })
      return opened(at, tested.weaknesses)
    }
    faults.push(`${driver.layers.join(', ')}: ${tested.faults.map((fault) => fault.split('\n')[0]).join('; ')}`)
  }
  return notHolding(tier, faults)
}

/** The ways to close a box at this tier, the best first. */
function driversOf(
  tier: ScriptTier,
  { folder, places, runscFolder }: BoxFactory,
  binary: string,
  filter: Filter,
): Driver[] {
  const isRoot = process.getuid?.() === 0
  const bounded = { memory: places.folders.memory !== undefined, tasks: places.folders.pids !== undefined }
  if (tier === 'os') {
    const users = isRoot ? (['switched', 'mapped'] as const) : (['mapped'] as const)
    const seccomp = writeFilter(folder, filter)
    return users.map((user) => bubblewrapDriver({ bwrap: binary, user, isRoot, seccomp, bounded }))
  }
  const options = { runsc: binary, isRoot, stateFolder: runscFolder, refusals: filter.names }
  return platforms.map((platform) => gvisorDriver({ ...options, platform }))
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/** Of the rooms that make script boxes: walls that were changed are tried again. */
function codeDigest(): string {
  const hash = createHash('sha256')
  for (const room of ['script', 'script-box', 'host']) {
    const folder = join(dirname(import.meta.dirname), room)
    const files = readdirSync(folder).filter((name) => /^[^.]+\.[jt]s$/.test(name))
    for (const name of files.sort()) hash.update(readFileSync(join(folder, name)))
  }
  return hash.digest('hex')
}

/** A build of Go's module proxy has no version of its own. */
async function versionOf(binary: string, digest: string): Promise<string> {
  const { stdout } = await promisify(execFile)(binary, ['--version'], { env: { PATH: hostPath } })
  const version = /\d+[\w.~+-]*/.exec(stdout.split('\n')[0]!)?.[0]
  return version ?? `sha256:${digest.slice(0, 12)}`
}

function readKnown(folder: string, tier: ScriptTier): TierRecord | null {
  const file = join(folder, `self-test-${tier}.json`)
  try {
    return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as TierRecord) : null
  } catch {
    return null // half written by a crash: tried again
  }
}

function writeKnown(folder: string, tier: ScriptTier, known: TierRecord): void {
  replaceFile(join(folder, `self-test-${tier}.json`), JSON.stringify(known))
}
