/**
 * The root of every box: empty folders to mount on, and the few files of `/etc` without which
 * programs do not start.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { AppError, sha256 } from '#model'

/**
 * Ours in every box: inputs and outputs, Go with what it compiled ahead, the socket of the proxy,
 * and what the kernel shows.
 */
export const mountPoints = [
  'inputs',
  'outputs',
  'workspace',
  'box/go',
  'box/go-cache',
  'box/outbound',
  'proc',
  'dev',
  'sys',
  'tmp',
]

/**
 * Each line leaves a script in Python when it is printed, so that of one that is stopped something
 * is known. Python's own option for it would read the script byte by byte, and lose output where
 * gVisor takes less at a time than it was given.
 */
const pythonStart = 'import sys\nsys.stdout.reconfigure(line_buffering=True)\n'

type SkeletonOptions = { tops: string[]; links: Record<string, string>; isHost: boolean }

/** Its folder. Complete or not there: it is made beside its place and moved. */
export function makeSkeleton(folder: string, options: SkeletonOptions): string {
  const linker = statSync('/etc/ld.so.cache', { throwIfNoEntry: false })
  const recipe = JSON.stringify([pythonStart, options, mountPoints, linker?.mtimeMs])
  const skeleton = join(folder, `rootfs-${sha256(recipe).slice(0, 16)}`)
  if (existsSync(skeleton)) return skeleton
  const draft = `${skeleton}.${process.pid}.new`
  rmSync(draft, { recursive: true, force: true })
  for (const point of [...mountPoints, ...options.tops]) makeFolder(join(draft, point))
  for (const [name, target] of Object.entries(options.links)) symlinkSync(target, join(draft, name))
  makeFolder(join(draft, 'box/python'))
  writeReadable(join(draft, 'box/python/sitecustomize.py'), pythonStart)
  if (options.isHost) writeEtc(join(draft, 'etc'))
  try {
    renameSync(draft, skeleton)
  } catch (thrown) {
    rmSync(draft, { recursive: true, force: true })
    if (existsSync(skeleton)) return skeleton // another process was faster
    throw new AppError('SANDBOX_SETUP_FAILED', `Cannot prepare ${skeleton}: ${(thrown as Error).message}`, {}, thrown)
  }
  return skeleton
}

/**
 * Skeletons of an older recipe: only a build takes them away, since a box may still stand on one.
 */
export function removeOldSkeletons(folder: string, current: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (name.startsWith('rootfs-') && path !== current) rmSync(path, { recursive: true, force: true })
  }
}

function writeEtc(etc: string): void {
  const files = {
    passwd: 'root:x:0:0:root:/:/bin/false\nbox:x:65534:65534:box:/tmp:/bin/bash\n',
    group: 'root:x:0:\nbox:x:65534:\n',
    hosts: '127.0.0.1 localhost\n::1 localhost\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
  }
  makeFolder(join(etc, 'alternatives'))
  for (const [name, text] of Object.entries(files)) writeReadable(join(etc, name), text)
  const copied = ['ld.so.cache', 'ssl/certs/ca-certificates.crt'].filter((name) => existsSync(join('/etc', name)))
  for (const name of copied) {
    makeFolder(dirname(join(etc, name)))
    copyFileSync(join('/etc', name), join(etc, name))
    chmodSync(join(etc, name), 0o644)
  }
  // Commands such as awk are links through here.
  const links = existsSync('/etc/alternatives') ? readdirSync('/etc/alternatives', { withFileTypes: true }) : []
  for (const { name } of links.filter((entry) => entry.isSymbolicLink())) {
    const target = readlinkSync(join('/etc/alternatives', name))
    if (/^\/usr\/(?:s?bin|lib)\//.test(target)) symlinkSync(target, join(etc, 'alternatives', name))
  }
}

function writeReadable(file: string, text: string): void {
  writeFileSync(file, text)
  chmodSync(file, 0o644)
}

/**
 * With every folder above it down to the draft, readable for the script's user whatever our mask
 * is.
 */
function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true })
  for (let at = path; first !== undefined && at.startsWith(first); at = dirname(at)) chmodSync(at, 0o755)
}
