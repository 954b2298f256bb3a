/** Where the parts of a box are on this machine. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ScriptTier } from './plan.ts'

/** The build that we test first, then what the system has. */
function usualPlaces(): Record<ScriptTier, string[]> {
  return {
    os: ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap'],
    gvisor: [
      join(homedir(), '.cache/metier/services/runsc/runsc'),
      join(homedir(), 'go/bin/runsc'),
      '/usr/local/bin/runsc',
      '/usr/bin/runsc',
    ],
  }
}

export type Binaries = Record<ScriptTier, string | null>

export function findBinaries({ bwrap, runsc }: { bwrap?: string | null; runsc?: string | null }): Binaries {
  const places = usualPlaces()
  const find = (tier: ScriptTier, given: string | null | undefined) => {
    return given === undefined ? (places[tier].find(existsSync) ?? null) : given
  }
  return { os: find('os', bwrap), gvisor: find('gvisor', runsc) }
}

/** System calls that are refused: as a program for the kernel, null where none is known for this machine, and by name. */
export type Filter = { program: Buffer | null; names: readonly string[] }

/** The program as a file that each box opens anew. */
export function writeFilter(folder: string, { program }: Filter): string | null {
  if (program === null) return null
  const file = join(folder, `seccomp-${createHash('sha256').update(program).digest('hex').slice(0, 16)}`)
  if (existsSync(file)) return file
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(`${file}.${process.pid}.new`, program, { mode: 0o600 })
  renameSync(`${file}.${process.pid}.new`, file)
  return file
}
