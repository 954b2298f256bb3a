/**
 * Finds the engine that a user may put beside ours: isolated-vm, which is no dependency and is
 * loaded only inside a box.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { AppError } from '#model'

/** Older ones can be left by a program. */
export const isolatedVmVersion = '7.0.1'
const fix = `npm install --ignore-scripts isolated-vm@${isolatedVmVersion}`

export type IsolatedVmPlace = { version: string; addon: string }

/**
 * Beside Métier, in the project, or where our own recipe puts it; the addon must be built for this
 * Node.
 */
export function findIsolatedVm(folders: string[] = usualFolders()): IsolatedVmPlace {
  const found = folders.map(packageIn).find((file) => file !== null)
  if (found === undefined || found === null) throw missing('isolated-vm is not installed')
  const { version } = JSON.parse(readFileSync(found, 'utf8')) as { version: string }
  if (isOlder(version, isolatedVmVersion))
    throw missing(`isolated-vm ${version} has holes that ${isolatedVmVersion} closed`)
  const addon = addonsOf(dirname(found)).find(existsSync)
  if (addon === undefined)
    throw missing(`isolated-vm ${version} was not built for Node ${process.version} on ${process.arch}`)
  return { version, addon }
}

function usualFolders(): string[] {
  return [import.meta.dirname, process.cwd(), join(homedir(), '.cache/metier/services/isolated-vm/current')]
}

function packageIn(folder: string): string | null {
  try {
    return createRequire(join(folder, 'here')).resolve('isolated-vm/package.json')
  } catch {
    return null
  }
}

/** What was compiled here, then what came with the package, for this kind of C library. */
function addonsOf(folder: string): string[] {
  const { header } = process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }
  const libc = process.platform === 'linux' ? (header.glibcVersionRuntime ? '.glibc' : '.musl') : ''
  const prebuilt = `prebuilds/${process.platform}-${process.arch}/isolated-vm.abi${process.versions.modules}${libc}.node`
  return [join(folder, 'build/Release/isolated_vm.node'), join(folder, prebuilt)]
}

function isOlder(version: string, than: string): boolean {
  const [mine, other] = [version, than].map((text) => text.split(/[.-]/).map(Number)) as [number[], number[]]
  for (const at of [0, 1, 2]) if (mine[at] !== other[at]) return !(mine[at]! > other[at]!)
  return version.includes('-')
}

function missing(why: string): AppError {
  return new AppError('SANDBOX_SETUP_FAILED', `Cannot use the engine "v8": ${why}. Run: ${fix}`, { engine: 'v8', fix })
}
