/** For every tier that is missing, why, and the command that adds it. */
import { readFileSync } from 'node:fs'
import type { ScriptTier } from './script-tier.ts'

export type MissingTier = { tier: ScriptTier; ok: false; detail: string; fix: string }

/** The build that was tested; later ones may want parts that Go cannot build. */
export const runscModule = 'gvisor.dev/gvisor/runsc@v0.0.0-20260905035102-160fafc42237'

const names: Record<ScriptTier, string> = { os: 'bubblewrap', gvisor: 'runsc' }

export function notInstalled(tier: ScriptTier): MissingTier {
  return { tier, ok: false, detail: `${names[tier]} is not installed`, fix: install(tier) }
}

export function notOnThisSystem(tier: ScriptTier): MissingTier {
  const detail = `${names[tier]} needs Linux, and this is ${process.platform}`
  return { tier, ok: false, detail, fix: 'run metier on Linux, or in a virtual machine with Linux' }
}

/** A box was tried and failed: most often the system forbids what it is made of. */
export function notHolding(tier: ScriptTier, faults: string[]): MissingTier {
  const settings: [string, string, string][] = [
    ['/proc/sys/user/max_user_namespaces', '0', 'user.max_user_namespaces=15000'],
    ['/proc/sys/kernel/unprivileged_userns_clone', '0', 'kernel.unprivileged_userns_clone=1'],
    ['/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '1', 'kernel.apparmor_restrict_unprivileged_userns=0'],
  ]
  const found = settings.find(([file, bad]) => read(file) === bad)
  const fix = found ? `${sudo()}sysctl -w ${found[2]}` : install(tier, ' --only-upgrade')
  return { tier, ok: false, detail: `a box was tried and does not hold: ${faults.join(' | ')}`, fix }
}

function install(tier: ScriptTier, option = ''): string {
  return tier === 'os' ? `${sudo()}apt-get install${option} bubblewrap` : `CGO_ENABLED=0 go install ${runscModule}`
}

export function sudo(): string {
  return process.getuid?.() === 0 ? '' : 'sudo '
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return null
  }
}
