/**
 * The places where a program can run on this machine: each engine, in each kind of box. Tests that
 * hold everywhere run in all.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { toAppError } from '#model'
import { findBinaries, usualPath } from '#sandbox/host'
import { type Boxes, type BoxesOptions, openBoxes } from './sandbox.ts'
import { findIsolatedVm } from './v8.ts'

export type Place = {
  name: string
  engine: 'quickjs' | 'v8'
  /** false, or why nothing can run there. */
  skip: string | false
  open(): { boxes: Boxes; close(): Promise<void> }
}

const { os: bwrap, gvisor: runsc } = findBinaries({ path: usualPath })
const noBubblewrap = bwrap === null && 'needs bubblewrap: node scripts/services.ts up bubblewrap'
const noRunsc = runsc === null && 'needs runsc: node scripts/services.ts up runsc'

export const places: Place[] = [
  place('QuickJS alone', 'quickjs', { bwrap: null, runsc: null }, false),
  place('QuickJS in bubblewrap', 'quickjs', { runsc: null }, noBubblewrap),
  place('QuickJS in gVisor', 'quickjs', { minTier: 'gvisor' }, noRunsc),
  place('V8 in bubblewrap', 'v8', { runsc: null }, noV8() || noBubblewrap),
]

function place(name: string, engine: Place['engine'], options: BoxesOptions, skip: string | false): Place {
  const open = () => {
    const folder = mkdtempSync(join(tmpdir(), 'metier-place-'))
    const boxes = openBoxes({ engine, folder, ...options })
    const close = async () => {
      await boxes.close()
      rmSync(folder, { recursive: true })
    }
    return { boxes, close }
  }
  return { name, engine, skip, open }
}

function noV8(): string | false {
  try {
    findIsolatedVm()
    return false
  } catch (thrown) {
    return `needs isolated-vm: node scripts/services.ts up isolated-vm (${toAppError(thrown).message})`
  }
}

for (const { name, skip } of places) test(`${name} can be had on this machine`, { skip }, () => {})
