/** Where the parts of a box are on this machine. */

import { existsSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { replaceFile, sha256 } from '#model'
import type { ScriptTier } from './script-tier.ts'

export const usualPath = '/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin'

export type Binaries = Record<ScriptTier, string | null>
type BinaryOptions = { bwrap?: string | null; runsc?: string | null; path: string }

/** Of runsc first the build that was tested, where our own recipe and Go's put it. */
export function findBinaries({ bwrap, runsc, path }: BinaryOptions): Binaries {
  const ours = ['.cache/metier/services/runsc/runsc', 'go/bin/runsc'].map((name) => join(homedir(), name))
  return {
    os: bwrap === undefined ? firstOf(inPath('bwrap', path)) : bwrap,
    gvisor: runsc === undefined ? firstOf([...ours, ...inPath('runsc', path)]) : runsc,
  }
}

export function inPath(name: string, path: string): string[] {
  return path
    .split(':')
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
}

function firstOf(files: string[]): string | null {
  return files.find((file) => existsSync(file)) ?? null
}

/**
 * System calls that are refused: as a program for the kernel, null where none is known for this
 * machine, and by name.
 */
export type Filter = { program: Buffer | null; names: readonly string[] }

/** The program as a file that each box opens for itself. */
export function writeFilter(folder: string, { program }: Filter): string | null {
  if (program === null) return null
  const file = join(folder, `seccomp-${sha256(program).slice(0, 16)}`)
  if (existsSync(file)) return file
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  replaceFile(file, program)
  return file
}
