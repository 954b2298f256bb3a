/** One box for one script: opened ahead with its interpreter waiting, used once, and gone without a trace. */
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { AppError, limits } from '#model'
import { type Capture, capture } from './capture.ts'
import type { Group } from './cgroup.ts'
import { hostPath, openPipes } from './pipes.ts'
import type { BoxPlan, Driver } from './plan.ts'
import { watchMemory } from './watch.ts'

export type StopReason = 'timeout' | 'flood' | 'memory' | 'cancelled' | 'closed'

/** How it was with a script, as plain facts. */
export type End = {
  /** null: the box ended before it could tell. */
  exitCode: number | null
  stopped: StopReason | null
  outOfMemory: boolean
  stdout: Capture
  stderr: Capture
  ms: number
  /** From the script's handing over to its first output. */
  firstByteMs: number | null
  /** How the outermost process of the box ended. */
  died: string
}

export type Box = {
  plan: BoxPlan
  readonly alive: boolean
  run(script: string, timeoutMs: number, signal?: AbortSignal): Promise<End>
  stop(reason: StopReason): void
  /** Resolved when nothing of the box is left: no process, no group, no file. */
  gone: Promise<void>
}

/** Joins the groups, closes what was inherited from whoever started us, and becomes the box. */
const wrapper = `
while [ "$1" != -- ]; do echo $$ >"$1" || exit 125; shift; done; shift
for f in /proc/$$/fd/*; do n=\${f##*/}; if [ "$n" -gt 4 ]; then eval "exec $n>&-"; fi; done
exec "$@"`

/** Resolves when the first process of the box has spoken; rejects with what stopped it. */
export async function openBox(plan: BoxPlan, driver: Driver, group: Group | null): Promise<Box> {
  const pipes = await openPipes(plan.folder)
  const command = await driver.command(plan)
  const filter = driver.seccomp ? openSync(driver.seccomp, 'r') : 'ignore'
  const args = ['-c', `${driver.processLimits(plan)}\n${wrapper}`, 'box', ...(group?.joins ?? []), '--', ...command]
  const child = spawn('/bin/bash', args, { env: { PATH: hostPath }, cwd: '/', stdio: [...pipes.theirs, filter] })
  pipes.handOver()
  if (typeof filter === 'number') closeSync(filter)

  let started = Number.NaN
  let firstByteAt: number | null = null
  let ended = performance.now()
  let stopped: StopReason | null = null
  let told = ''
  let outOfMemory = false

  const kill = () => {
    child.kill('SIGKILL')
    group?.kill()
  }
  const stop = (reason: StopReason) => {
    stopped ??= reason
    kill()
  }
  const stdout = capture(pipes.stdout, () => stop('flood'))
  const stderr = capture(pipes.stderr, () => stop('flood'))
  for (const stream of [pipes.stdout, pipes.stderr]) stream.once('data', () => (firstByteAt ??= performance.now()))

  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  const silent = Promise.all([pipes.stdout, pipes.stderr, pipes.status].map((one) => new Promise((r) => one.once('close', r))))
  const over = exited.then(async (died) => {
    child.removeAllListeners()
    // A process that outlived the box would hold a pipe open; the group has it killed.
    const late = setTimeout(() => [pipes.stdout, pipes.stderr, pipes.status].forEach((one) => one.destroy()), limits.scriptBoxEndMsMax)
    group?.kill()
    await silent
    clearTimeout(late)
    pipes.stdin.destroy()
    ended = performance.now()
    outOfMemory = (group?.oomKills() ?? 0) > 0
    return died
  })
  const gone = over.then(async () => {
    await group?.remove()
    await driver.leave(plan)
    await rm(plan.folder, { recursive: true, force: true })
  })
  const unwatch = group?.joins

  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => stop('timeout'), limits.scriptBoxStartMsMax)
    pipes.status.on('data', (chunk: Buffer) => {
      told = (told + chunk).slice(0, 16)
      clearTimeout(late)
      resolve()
    })
    void over.then((died) => {
      clearTimeout(late)
      reject(new AppError('SANDBOX_SETUP_FAILED', `Cannot open a box: ${died}`, { stderr: stderr.text() }))
    })
  })
  throw unwatch
}
