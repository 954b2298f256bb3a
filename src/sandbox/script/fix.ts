/** For every tier that is missing, why, and the command that adds it. */
import { readFileSync } from 'node:fs'
import type { ScriptTier } from './plan.ts'

/** The build that was tested; later ones may want parts that Go cannot build. */
export const runscModule = 'gvisor.dev/gvisor/runsc@v0.0.0-20260905035102-160fafc42237'

const names: Record<ScriptTier, string> = { os: 'bubblewrap', gvisor: 'runsc' }

export function missing(tier: ScriptTier): { detail: string; fix: string } {
  return { detail: `${names[tier]} is not installed`, fix: install(tier) }
}

function install(tier: ScriptTier): string {
  return tier === 'os' ? `${sudo()}apt-get install bubblewrap` : `CGO_ENABLED=0 go install ${runscModule}`
}

/** A box was tried and failed: most often the system forbids what it is made of. */
export function fixOf(tier: ScriptTier): string {
  const settings: [string, string, string][] = [
    ['/proc/sys/user/max_user_namespaces', '0', 'user.max_user_namespaces=15000'],
    ['/proc/sys/kernel/unprivileged_userns_clone', '0', 'kernel.unprivileged_userns_clone=1'],
    ['/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '1', 'kernel.apparmor_restrict_unprivileged_userns=0'],
  ]
  const found = settings.find(([file, bad]) => read(file) === bad)
  return found ? `${sudo()}sysctl -w ${found[2]}` : install(tier)
}

const packages = { python: 'python3', bash: 'bash', go: 'golang-go' }

export function installInterpreter(interpreter: keyof typeof packages): string {
  return `${sudo()}apt-get install ${packages[interpreter]}`
}

function sudo(): string {
  return process.getuid?.() === 0 ? '' : 'sudo '
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return null
  }
}
