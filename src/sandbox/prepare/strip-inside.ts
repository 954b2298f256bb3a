/**
 * What runs inside boxes, as JavaScript: its types are taken out once here, not by each box that
 * starts, which took half of its time.
 */

import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile, sha256 } from '#model'
import { strip } from './strip.ts'

/**
 * The folder with the same files without types, below `folder`; `inside` itself where they have
 * none or the disk does not take them.
 */
export function strippedInside(inside: string, folder: string): string {
  const names = readdirSync(inside).filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
  if (names.length === 0) return inside
  const sources = names.map((name) => readFileSync(join(inside, name), 'utf8'))
  const digest = sha256(JSON.stringify([names, sources]))
  const place = join(folder, `inside-${digest.slice(0, 16)}`)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    mkdirSync(place, { recursive: true })
    // Readable for any user that a box runs as, whatever our umask; the folder above decides who
    // else gets to it.
    chmodSync(place, 0o755)
    for (const [at, name] of names.entries()) keep(join(place, `${name.slice(0, -3)}.js`), plain(sources[at]!))
    return place
  } catch {
    // Only slower without the file: a part that needs the disk will report what is wrong with it.
    return inside
  }
}

function plain(source: string): string {
  const stripped = strip(source)
  if ('fault' in stripped) throw new Error(stripped.fault)
  return stripped.text.replace(/(from '\.\/[^']+)\.ts'/g, "$1.js'")
}

/** Replaced as a whole wherever it differs from what it should be. */
function keep(file: string, text: string): void {
  if (textOf(file) !== text) replaceFile(file, text, { mode: 0o644 })
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
