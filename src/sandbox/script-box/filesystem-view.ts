/**
 * What a box sees of the system: a skeleton of its own, `/usr` of the host or the folders of an
 * image, read-only, and nothing else.
 */
import { globSync, lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { AppError } from '#model'
import { makeSkeleton, mountPoints } from './skeleton.ts'

export type Bind = { from: string; to: string; writable?: true }
export type View = {
  /** A folder with every mount point, shown as `/`. */
  skeleton: string
  binds: Bind[]
  /** Folders that are shown empty. */
  blanks: string[]
}

/**
 * So that no package manager works inside, and nothing that was put on this machine beside the
 * system is seen.
 */
const masked = [
  '/usr/local',
  '/usr/src',
  '/usr/home',
  '/usr/lib{,64}/python3*/{dist,site}-packages',
  '/usr/lib{,64}/python3*/ensurepip',
  '/usr/share/python-wheels',
  '/usr/lib/node_modules',
  '/usr/share/nodejs',
]

/**
 * The view of this image, or of this host; its skeleton is made below `folder` when it is not there
 * yet.
 */
export function openView(folder: string, image: string | null): View {
  if (image !== null) refuseBadImage(image)
  const from = image ?? '/'
  const entries = readdirSync(from, { withFileTypes: true }).filter(({ name }) => isShown(name, image !== null))
  const tops = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  const links = entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => name)
  const targets = Object.fromEntries(links.map((name) => [name, readlinkSync(join(from, name))]))
  return {
    skeleton: makeSkeleton(folder, { tops, links: targets, isHost: image === null }),
    binds: tops.map((top) => ({ from: join(from, top), to: `/${top}` })),
    blanks: image === null ? blanksOf([folder, homedir(), process.cwd()]) : [],
  }
}

/**
 * Of an image all that it has but our mount points; of this host only `/usr` and what leads there.
 */
function isShown(name: string, isImage: boolean): boolean {
  if (isImage) return !mountPoints.some((point) => point.split('/')[0] === name)
  return /^(?:usr|s?bin|lib\w*)$/.test(name)
}

/** A home or a project inside `/usr` is hidden. */
function blanksOf(privateFolders: string[]): string[] {
  const known = globSync(masked)
  const inside = privateFolders.filter((path) => path.startsWith('/usr/') && !known.some((one) => path.startsWith(one)))
  return [...known, ...inside].filter((path) => lstatSync(path).isDirectory())
}

function refuseBadImage(image: string): void {
  if (isAbsolute(image) && statSync(join(image, 'usr'), { throwIfNoEntry: false })?.isDirectory()) return
  const details = 'must be the absolute path of a folder that holds the root of a system'
  throw new AppError('INVALID_INPUT_PARAM', `Cannot use the image "${image}": it ${details}`, {
    param: 'image',
    details,
  })
}
