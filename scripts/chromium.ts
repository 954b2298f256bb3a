/** The recipe for a browser: Debian's Chromium, which tests start by themselves. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Machine } from './bubblewrap.ts'

const program = '/usr/bin/chromium'

/**
 * Installs the package where we may; where we may not, the refusal carries the command that does
 * it.
 */
export function installChromium({ path, isRoot, say }: Machine): void {
  if (probeChromium() === null) return
  const byHand = 'apt-get update && apt-get install --no-install-recommends chromium'
  if (!isRoot) throw new Error(`Cannot install Chromium: this needs root. Run as root: ${byHand}`)
  say('installing Chromium (apt-get)')
  const env = { ...process.env, PATH: path, DEBIAN_FRONTEND: 'noninteractive' }
  const run = (...args: string[]) => spawnSync('apt-get', args, { env, encoding: 'utf8' })
  const install = () => run('install', '-y', '-q', '--no-install-recommends', 'chromium')
  if (install().status === 0) return
  run('update', '-q')
  const { status, stderr, error } = install()
  if (status !== 0) throw new Error(`Cannot install Chromium: ${error?.message ?? stderr.trim()}. Run: ${byHand}`)
}

export function probeChromium(): string | null {
  return existsSync(program) ? null : `there is no ${program}`
}
