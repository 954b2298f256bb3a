/**
 * What the tests of script boxes share: the tiers of this machine, boxes with a state folder of
 * their own, and a look at what is left.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openScriptBoxes, type ScriptBoxes, type ScriptBoxesOptions, type ScriptTier } from '#sandbox'
import type { Scope } from './scope.ts'

export const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'metier', 'services')

const binaries: Record<ScriptTier, string[]> = {
  os: ['/usr/bin/bwrap', '/usr/local/bin/bwrap'],
  gvisor: [join(cacheFolder, 'runsc', 'runsc')],
}
const recipes: Record<ScriptTier, string> = { os: 'bubblewrap', gvisor: 'runsc' }

/** The program of a tier on this machine, or null. */
export function binaryOf(tier: ScriptTier): string | null {
  return binaries[tier].find(existsSync) ?? null
}

/** false, or why the tests of a tier cannot run. */
export function whyNot(tier: ScriptTier): string | false {
  if (process.platform !== 'linux') return `needs ${recipes[tier]}: run on Linux`
  return binaryOf(tier) ? false : `needs ${recipes[tier]}: node scripts/services.ts up ${recipes[tier]}`
}

export type Lodging = { boxes: ScriptBoxes; folder: string; close(): Promise<void> }

/** Boxes of these tiers alone, with a state folder that goes when they close. */
export function lodge(tiers: ScriptTier[], options: Partial<ScriptBoxesOptions> = {}): Lodging {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'metier-script-'))
  const pick = (tier: ScriptTier) => (tiers.includes(tier) ? binaryOf(tier) : null)
  const boxes = openScriptBoxes({ bwrap: pick('os'), runsc: pick('gvisor'), ...options, folder })
  const close = async () => {
    await boxes.close()
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
  }
  return { boxes, folder, close }
}

/**
 * Everything that boxes of this process, or of that state folder, may have left behind; empty when
 * all is well.
 */
export function leftovers(folder: string): string[] {
  const mine = (name: string) => name.includes(`-${process.pid}-`)
  return [
    ...children(process.pid).map((pid) => `process ${pid}`),
    // What lost its parent is no child of ours, but names its box.
    ...(isRunning(`-${process.pid}-`) ? ['a process that names a box of ours'] : []),
    ...cgroups().filter(mine),
    ...readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => line.includes(folder)),
    ...(existsSync(join(folder, 'boxes')) ? readdirSync(join(folder, 'boxes')).filter((name) => !mine(name)) : []),
    ...boxFolders(folder),
  ]
}

/** Folders of single boxes: their parent, of a living process, may stay. */
function boxFolders(folder: string): string[] {
  const boxes = join(folder, 'boxes')
  const owners = existsSync(boxes) ? readdirSync(boxes) : []
  return owners.flatMap((owner) => readdirSync(join(boxes, owner)).filter((name) => /^\d+$/.test(name)))
}

export function cgroups(): string[] {
  const parents = readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
      return path === undefined
        ? []
        : (controllers ? controllers.split(',') : ['']).map((one) => join('/sys/fs/cgroup', one, path))
    })
  const all = parents.filter(existsSync).flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)))
  return [...new Set(all)].filter((path) => path.includes('/metier-box-'))
}

/**
 * A bubblewrap that stays in one instant of its start: it has asked to die with its parent, its
 * inner process waits for its word, and the word does not come.
 */
export function heldBubblewrap(folder: string): string {
  const [file, never] = [join(folder, 'bwrap'), join(folder, 'never')]
  execFileSync('mkfifo', ['-m', '666', never])
  const held = ['--unshare-user', '--info-fd', '8', '--userns-block-fd', '9']
  const text = `#!/bin/sh\nexec ${binaryOf('os')} ${held.join(' ')} "$@" 8>/dev/null 9<>'${never}'\n`
  writeFileSync(file, text, { mode: 0o755 })
  return file
}

/**
 * The processes below this one, when one of them is an inner process of bubblewrap that waits;
 * those left are ended with the test.
 */
export async function startingBelow(t: Scope, pid: number): Promise<number[]> {
  const name = (one: number) => readFileSync(`/proc/${one}/comm`, 'utf8').trim()
  const isInner = (one: number) => name(one) === 'bwrap' && children(one).length === 0
  for (let tries = 0; tries < 500; tries++) {
    await pause(20)
    const found = children(pid)
    const outer = found.filter((one) => name(one) === 'bwrap' && children(one).some(isInner))
    if (outer.length === 0) continue
    t.after(() => found.forEach(end))
    return found
  }
  throw new Error('bubblewrap did not start')
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it is gone, as it should be
  }
}

/** The living processes that descend from one. */
export function children(pid: number): number[] {
  const own = readdirSync(`/proc/${pid}/task`).flatMap((task) => numbers(`/proc/${pid}/task/${task}/children`))
  return own.flatMap((child) => {
    try {
      const isDead = / Z /.test(readFileSync(`/proc/${child}/stat`, 'utf8'))
      return isDead ? [] : [child, ...children(child)]
    } catch {
      return [] // it ended while we looked
    }
  })
}

function numbers(file: string): number[] {
  return readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** Whether any process of the machine has this in its command line. */
export function isRunning(words: string): boolean {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .some((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(words)
      } catch {
        return false
      }
    })
}
