/**
 * One box for one script: opened ahead with its interpreter waiting, used once, and gone without a
 * trace.
 */
import type { ChildProcess } from 'node:child_process'
import { rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { AppError, limits } from '#model'
import { killGroup, killRest } from '#sandbox/host'
import type { BoxPlan, Driver } from './box-plan.ts'
import { type Capture, capture } from './capture.ts'
import type { Group } from './cgroup.ts'
import type { Received } from './outputs.ts'
import { startBox } from './start.ts'
import { followStatus } from './status.ts'
import { watchMemory } from './watch-memory.ts'

type StopReason = 'timeout' | 'outputs' | 'flood' | 'memory' | 'cancelled' | 'closed'

/** How it was with a script, as plain facts. */
export type End = {
  /** null: the box ended before it could tell. */
  exitCode: number | null
  stopped: StopReason | null
  outOfMemory: boolean
  stdout: Capture
  stderr: Capture
  ms: number
  /** From the handing over of the script to its first output. */
  firstByteMs: number | null
  /** How the outermost process of the box ended. */
  died: string
  /** Null where nothing was asked for, or the box ended before. */
  outputs: Received | Error | null
}

export type Box = {
  plan: BoxPlan
  readonly alive: boolean
  run(script: string, timeoutMs: number, signal?: AbortSignal): Promise<End>
  stop(reason: StopReason): void
  /** Resolved when nothing of the box is left: no process, no group, no file. */
  gone: Promise<void>
}

type BoxOptions = {
  plan: BoxPlan
  driver: Driver
  group: Group | null
  /** Where nothing else bounds the memory of the box, we measure it. */
  watched: boolean
}

/** Resolves when the first process of the box has spoken; rejects with what it said instead. */
export async function openBox({ plan, driver, group, watched }: BoxOptions): Promise<Box> {
  const { child, pipes, isReady } = await startBox(plan, driver, group)
  let stopped: StopReason | null = null
  let alive = true
  const stop = (reason: StopReason) => {
    stopped ??= reason
    killGroup(child)
    group?.kill()
  }
  const stdout = capture(pipes.stdout, () => stop('flood'))
  const stderr = capture(pipes.stderr, () => stop('flood'))
  const status = followStatus(pipes.status, plan.outputs)
  const over = untilOver(child, [pipes.stdout, pipes.stderr, pipes.status], group).finally(() => {
    alive = false
    pipes.stdin.destroy()
  })
  const gone = over.then(async () => {
    await group?.remove()
    await driver.leave(plan)
    // What cannot be taken away now is reaped at the next start.
    await rm(plan.folder, { recursive: true, force: true }).catch(() => {})
  })

  const late = setTimeout(() => stop('timeout'), limits.scriptBoxStartMsMax)
  const died = await Promise.race([status.ready, over.then((end) => end.died)])
  clearTimeout(late)
  if (died !== null) {
    await gone
    const said = stderr.text(limits.scriptErrorOutputBytesMax).trim()
    const how = stopped === 'timeout' ? `it was not ready within ${limits.scriptBoxStartMsMax} ms` : said || died
    throw new AppError('SANDBOX_SETUP_FAILED', `Cannot open a box: ${how}`, { tier: driver.tier })
  }
  isReady()

  return {
    plan,
    get alive() {
      return alive && stopped === null
    },
    async run(script, timeoutMs, signal) {
      const started = performance.now()
      let timer = setTimeout(() => stop('timeout'), timeoutMs)
      if (plan.outputs) {
        void status.exited.then(() => {
          clearTimeout(timer)
          timer = setTimeout(() => stop('outputs'), limits.scriptOutputFilesMsMax)
        })
      }
      const onAbort = () => stop('cancelled')
      if (signal?.aborted) onAbort()
      signal?.addEventListener('abort', onAbort)
      const bytesMax = driver.groupBounds(plan).memoryBytes
      const unwatch = watched ? watchMemory(child.pid!, bytesMax, () => stop('memory')) : () => {}
      pipes.stdin.end(script)
      const end = await over
      unwatch()
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      const first = [stdout.firstAt, stderr.firstAt].filter((at) => at !== null)
      const firstByteMs = first.length > 0 ? Math.min(...first) - started : null
      const ended = { ...end, exitCode: status.exitCode(), outputs: await status.outputs }
      return { ...ended, stopped, stdout, stderr, ms: end.at - started, firstByteMs }
    },
    stop,
    gone,
  }
}

type Over = { died: string; at: number; outOfMemory: boolean }

/** Resolves when the outermost process has ended and no process holds an output any more. */
async function untilOver(child: ChildProcess, outputs: Socket[], group: Group | null): Promise<Over> {
  const silent = outputs.map((one) => new Promise<void>((resolve) => one.once('close', () => resolve())))
  const died = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  // Whatever survived the box would hold its outputs open.
  killRest(child)
  group?.kill()
  const late = setTimeout(() => {
    for (const output of outputs) output.destroy()
  }, limits.scriptBoxEndMsMax)
  await Promise.all(silent)
  clearTimeout(late)
  return { died, at: performance.now(), outOfMemory: (group?.oomKills() ?? 0) > 0 }
}
