/**
 * Go in a box: the toolchain of the host, and its standard library compiled once, since without
 * that a script takes seconds.
 */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { sha256 } from '#model'
import { inPath, isOrphan, ownerName } from '#sandbox/host'
import type { Bind, View } from '#sandbox/script-box'

/** A toolchain: where it is on the host, where a box sees it, and what tells it from another. */
export type GoToolchain = {
  root: string
  inside: string
  version: string
  /**
   * What was compiled ahead for exactly this toolchain at exactly this place; null: nothing yet.
   */
  cache: string | null
}

/**
 * The first toolchain there is; below `/usr` it stays where it is, since its parts are linked to
 * each other.
 */
export function findGo(folder: string, { binds, blanks }: View, path: string): GoToolchain | null {
  const places = ['/usr/local/go/bin/go', ...inPath('go', path), '/usr/lib/go/bin/go']
  for (const binary of places.filter((file) => existsSync(file))) {
    const root = dirname(dirname(realpathSync(binary)))
    if (!existsSync(join(root, 'VERSION'))) continue
    const isShown = binds.some(({ from, to }) => from === to && root.startsWith(`${from}/`))
    const isVisible = isShown && !blanks.some((blank) => root.startsWith(`${blank}/`))
    const go = { root, inside: isVisible ? root : '/box/go', version: readFileSync(join(root, 'VERSION'), 'utf8') }
    const cache = cacheOf(folder, go)
    return { ...go, cache: existsSync(cache) ? cache : null }
  }
  return null
}

export function goBinds({ root, inside, cache }: GoToolchain): Bind[] {
  const toolchain = inside === root ? [] : [{ from: root, to: inside }]
  return [...toolchain, ...(cache ? [{ from: cache, to: '/box/go-cache' }] : [])]
}

/**
 * `compile` fills the folder it is given; only what it finished is kept, and what that replaces
 * goes.
 */
export async function primeGo(
  folder: string,
  go: GoToolchain,
  compile: (binds: Bind[]) => Promise<void>,
): Promise<void> {
  const cache = cacheOf(folder, go)
  const old = readdirSync(folder).filter((name) => isReplaced(name) && join(folder, name) !== cache)
  const draft = mkdtempSync(join(folder, `go-draft-${ownerName()}-`))
  const filled = join(draft, 'cache')
  try {
    mkdirSync(filled)
    chmodSync(filled, 0o777)
    const binds = goBinds({ ...go, cache: filled })
    await compile(binds.map((bind) => (bind.from === filled ? { ...bind, writable: true } : bind)))
    chmodSync(filled, 0o755)
    // Another process may have been faster: then its work is as good.
    if (!existsSync(cache)) renameSync(filled, cache)
    for (const name of old) rmSync(join(folder, name), { recursive: true, force: true })
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** Of another toolchain, or of a process that died over it. */
function isReplaced(name: string): boolean {
  return name.startsWith('go-cache-') || (name.startsWith('go-draft-') && isOrphan(name.slice('go-draft-'.length)))
}

function cacheOf(folder: string, { root, inside, version }: Omit<GoToolchain, 'cache'>): string {
  const digest = sha256(JSON.stringify([root, inside, version]))
  return join(folder, `go-cache-${digest.slice(0, 16)}`)
}
