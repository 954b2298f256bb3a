/**
 * Starts the outermost process of a box: in its groups, with its four pipes and its filter, and
 * with nothing else of ours.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { hostPath, killGroupScript, openPipes, type Pipes } from '#sandbox/host'
import type { BoxPlan, Driver } from './box-plan.ts'
import type { Group } from './cgroup.ts'

/**
 * Joins the groups, closes what was inherited from our parent process, and becomes the command of
 * the driver.
 */
const wrapper = (start: string) => `
while [ "$1" != -- ]; do echo $$ >"$1" || exit 125; shift; done; shift
for f in /proc/$$/fd/*; do n=\${f##*/}; if [ "$n" -gt 5 ]; then eval "exec $n>&-"; fi; done
${start}
exec "$@" 5>&-`

export async function startBox(
  plan: BoxPlan,
  driver: Driver,
  group: Group | null,
): Promise<{ child: ChildProcess; pipes: Pipes; isReady(): void }> {
  const command = await driver.command(plan)
  const pipes = openPipes(plan.folder)
  const filter = driver.seccomp ? openSync(driver.seccomp, 'r') : 'ignore'
  const { startsWithUs, processLimits } = driver
  const text = `${processLimits(plan)}${wrapper(startsWithUs ? killGroupScript(5) : '')}`
  const args = ['-c', text, 'box', ...(group?.joins ?? []), '--', ...command]
  // In a session of its own: a key pressed at our terminal is for us, and we decide what becomes of
  // the box.
  const options = { env: { PATH: hostPath }, cwd: '/', detached: true }
  const stdio: (number | 'pipe' | 'ignore')[] = [...pipes.theirs, filter, startsWithUs ? 'pipe' : 'ignore']
  const child = spawn('/bin/bash', args, { ...options, stdio })
  pipes.handOver()
  if (typeof filter === 'number') closeSync(filter)
  const [, , , , , starting] = child.stdio as (Writable | null)[]
  starting?.on('error', () => {}) // it is gone: its end says how
  return { child, pipes, isReady: () => starting?.end('\n') }
}
