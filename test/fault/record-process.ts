/** Starts processes that keep a record, and listens to what they say is durable. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import type { EventBodies, ProcessId, RunId } from '#model'
import type { Chain, Store } from '#record'

export const sampleStart: EventBodies['run.started'] = {
  intent: 'survive',
  mode: 'run',
  plan: { kind: 'code', source: '', digest: '' },
  args: null,
  actor: { kind: 'cli', name: 'child' },
  permissions: 'standard',
  budget: { calls: 1, wallMs: 1, bytes: 1 },
  seed: '00'.repeat(32),
  engine: { name: '', version: '', digest: '' },
  servers: {},
  isolation: null,
}

/** Takes a run over as an engine does: its first word says the epoch. */
export async function resumeRun(store: Store, run: RunId): Promise<Chain> {
  const chain = await store.takeRun(run)
  chain.append('run.resumed', { by: 'test', epoch: chain.epoch, engine: sampleStart.engine, isolation: null })
  return chain
}

export type ProcessReport = { process: ProcessId; runs: RunId[]; run: RunId; n: number; code: string }

export type Keeper = {
  child: ChildProcess
  /** Its process and runs: said first, when they are durable. */
  ready: Promise<ProcessReport>
  /** Of each run, the last event that was said to be durable. */
  durable: Map<RunId, number>
  /** Its exit code, however early it ended. */
  ended: Promise<number | null>
  /** The next thing it says. */
  next(): Promise<ProcessReport>
  ask(): Promise<ProcessReport>
  kill(signal?: NodeJS.Signals): Promise<void>
}

export function startKeeper(t: TestContext, home: string, mode: 'load' | 'hold' | 'share'): Keeper {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'record-child.ts'), home, mode], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const durable = new Map<RunId, number>()
  const lines = createInterface({ input: child.stdout! })
  lines.on('line', (line) => {
    const { run, n } = JSON.parse(line) as ProcessReport
    if (run) durable.set(run, n)
  })
  const next = async () => JSON.parse((await once(lines, 'line'))[0]) as ProcessReport
  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
    child.kill(signal)
    await ended
  }
  t.after(() => kill())
  const ask = () => {
    const answer = next()
    child.stdin!.write('\n')
    return answer
  }
  return { child, ready: next(), durable, ended, next, ask, kill }
}
