/**
 * The recipe for bubblewrap: nothing to start, but it must be there and must really close a box.
 */
import { spawnSync } from 'node:child_process'

const aptInstall = ['apt-get', 'install', '-y', '-q', 'bubblewrap']

export type Machine = { path: string; isRoot: boolean; say(line: string): void }

/**
 * Installs the package where we may; where we may not, the refusal carries the command that does
 * it.
 */
export function installBubblewrap({ path, isRoot, say }: Machine): void {
  const run = (command: string[]) =>
    spawnSync(command[0]!, command.slice(1), {
      env: { ...process.env, PATH: path, DEBIAN_FRONTEND: 'noninteractive' },
      encoding: 'utf8',
    })
  if (run(['bwrap', '--version']).status === 0) return
  const byHand = `${isRoot ? '' : 'sudo '}apt-get update && ${isRoot ? '' : 'sudo '}apt-get install bubblewrap`
  if (!isRoot) throw new Error(`Cannot install bubblewrap: this needs root. Run: ${byHand}`)
  say('installing bubblewrap (apt-get)')
  if (run(aptInstall).status === 0) return
  run(['apt-get', 'update', '-q'])
  const { status, stderr, error } = run(aptInstall)
  if (status !== 0) throw new Error(`Cannot install bubblewrap: ${error?.message ?? stderr.trim()}. Run: ${byHand}`)
}

/** Null when a box was really made; else what stopped it. */
export function probeBubblewrap(path: string): string | null {
  const args = ['--ro-bind', '/', '/', '--unshare-all', '--die-with-parent', '--new-session', '/bin/true']
  const { status, stderr, error } = spawnSync('bwrap', args, { env: { PATH: path }, encoding: 'utf8', timeout: 10_000 })
  return status === 0 ? null : (error?.message ?? (stderr.trim() || `exit code ${status}`))
}
