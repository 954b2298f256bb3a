/** Go in a box: the toolchain of the host, and its standard library compiled once, since without that a script takes seconds. */
import { createHash } from 'node:crypto'
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
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Bind, View } from './view.ts'

/** A toolchain: where it is on the host, where a box sees it, and what tells it from another. */
export type GoToolchain = {
  root: string
  inside: string
  version: string
  /** What was compiled ahead for exactly this toolchain at exactly this place; null: nothing yet. */
  cache: string | null
}

const binaries = [
  '/usr/local/go/bin/go',
  '/usr/bin/go',
  '/usr/lib/go/bin/go',
  '/usr/local/bin/go',
  '/snap/go/current/bin/go',
]

/** The first toolchain there is; below `/usr` it stays where it is, since its parts are linked to each other. */
export function findGo(folder: string, { blanks }: View, places: string[] = binaries): GoToolchain | null {
  for (const binary of places.filter(existsSync)) {
    const root = dirname(dirname(realpathSync(binary)))
    if (!existsSync(join(root, 'VERSION'))) continue
    const isVisible = root.startsWith('/usr/') && !blanks.some((blank) => root.startsWith(`${blank}/`))
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

/** `compile` fills the folder it is given; only what it finished is kept, and what it replaces goes. */
export async function primeGo(
  folder: string,
  go: GoToolchain,
  compile: (binds: Bind[]) => Promise<void>,
): Promise<void> {
  const cache = cacheOf(folder, go)
  const draft = mkdtempSync(join(folder, 'go-draft-'))
  const filled = join(draft, 'cache')
  try {
    mkdirSync(filled)
    chmodSync(filled, 0o777)
    const binds = goBinds({ ...go, cache: filled })
    await compile(binds.map((bind) => (bind.from === filled ? { ...bind, writable: true } : bind)))
    chmodSync(filled, 0o755)
    for (const name of readdirSync(folder).filter((one) => one.startsWith('go-cache-'))) {
      rmSync(join(folder, name), { recursive: true, force: true })
    }
    writeFileSync(join(filled, 'metier-version'), go.version)
    renameSync(filled, cache)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

function cacheOf(folder: string, { root, inside, version }: Omit<GoToolchain, 'cache'>): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([root, inside, version]))
    .digest('hex')
  return join(folder, `go-cache-${digest.slice(0, 16)}`)
}
