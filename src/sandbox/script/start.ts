/** Starts the outermost process of a box: in its groups, with its four pipes and its filter, and with nothing else of ours. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Group } from './cgroup.ts'
import { hostPath, openPipes, type Pipes } from './pipes.ts'
import type { BoxPlan, Driver } from './plan.ts'

/** Joins the groups, closes what was inherited from whoever started us, and becomes the command of the driver. */
const wrapper = `
while [ "$1" != -- ]; do echo $$ >"$1" || exit 125; shift; done; shift
for f in /proc/$$/fd/*; do n=\${f##*/}; if [ "$n" -gt 4 ]; then eval "exec $n>&-"; fi; done
exec "$@"`

export async function startBox(
  plan: BoxPlan,
  driver: Driver,
  group: Group | null,
): Promise<{ child: ChildProcess; pipes: Pipes }> {
  const command = await driver.command(plan)
  const pipes = openPipes(plan.folder)
  const filter = driver.seccomp ? openSync(driver.seccomp, 'r') : 'ignore'
  const args = ['-c', `${driver.processLimits(plan)}${wrapper}`, 'box', ...(group?.joins ?? []), '--', ...command]
  // In a session of its own: a key pressed at our terminal is for us, and we decide what becomes of the box.
  const options = { env: { PATH: hostPath }, cwd: '/', detached: true }
  const child = spawn('/bin/bash', args, { ...options, stdio: [...pipes.theirs, filter] })
  pipes.handOver()
  if (typeof filter === 'number') closeSync(filter)
  return { child, pipes }
}
