/**
 * Packages from npm that tests need beside our own, at the versions that were tested, installed
 * once into a folder of theirs.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type Packages = Record<string, string>
export type PackagesPlace = { folder: string; path: string; say(line: string): void; msMax?: number }

/** An install that takes longer waits for something that the registry does not have. */
export const installMsMax = 5 * 60 * 1000

const manifestOf = (packages: Packages) => `${JSON.stringify({ private: true, dependencies: packages }, null, 2)}\n`

/**
 * Beside its place first, so that a killed install leaves nothing that looks ready. None of their
 * own scripts is run.
 */
export function installPackages(packages: Packages, { folder, path, say, msMax = installMsMax }: PackagesPlace): void {
  if (probePackages(packages, folder) === null) return
  say(`installing ${Object.keys(packages).length} packages from npm (once)`)
  const draft = mkdtempSync(join(folder, 'install-'))
  try {
    writeFileSync(join(draft, 'package.json'), manifestOf(packages))
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const env = { ...process.env, PATH: path }
    const bounded = { timeout: msMax, killSignal: 'SIGKILL' as const }
    const { status, stderr, error } = spawnSync('npm', args, { cwd: draft, env, encoding: 'utf8', ...bounded })
    if ((error as NodeJS.ErrnoException | undefined)?.code === 'ETIMEDOUT')
      throw new Error(`Cannot install from npm: it did not end within ${msMax} ms`)
    if (status !== 0) throw new Error(`Cannot install from npm: ${error?.message ?? stderr.trim()}`)
    rmSync(join(folder, 'current'), { recursive: true, force: true })
    renameSync(draft, join(folder, 'current'))
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

export function probePackages(packages: Packages, folder: string): string | null {
  const file = join(folder, 'current', 'package.json')
  const isCurrent = existsSync(file) && readFileSync(file, 'utf8') === manifestOf(packages)
  return isCurrent ? null : 'they are not installed'
}
