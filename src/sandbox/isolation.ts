/** Decides by execution how well a box is closed: a wall that was not seen to hold is not in the report. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { AppError, type IsolationReport, limits, toAppError } from '#model'
import { openBox } from './box.ts'
import { type BoxCommand, type BoxOptions, probeCommand } from './command.ts'
import type { ProbeReport } from './inside/probe.ts'
import { seccompFilter } from './seccomp.ts'

export type Isolation = { report: IsolationReport; box: BoxOptions }

const install = 'install bubblewrap (apt-get install bubblewrap)'

/** The strongest box that could hold here: bubblewrap with a filter of system calls. */
export async function strongestBox(node: string, bwrap: string | null): Promise<BoxOptions> {
  return { node, bwrap, seccomp: bwrap ? seccompFilter() : null, stackBytes: await stackGranted() }
}

/** The strongest box that does hold: else without the filter, else with the engine's own walls alone. */
export async function chooseIsolation(strongest: BoxOptions, version: string): Promise<Isolation> {
  const degraded: string[] = []
  for (const box of boxesToTry(strongest, degraded)) {
    const seen = await probe(box).catch(failureOf)
    const fault = typeof seen === 'string' ? seen : faultIn(seen, box)
    if (fault === null) return { box, report: reportOf(seen as ProbeReport, box, version, degraded) }
    degraded.push(`${box.seccomp ? 'bubblewrap with a filter of system calls' : 'bubblewrap'} does not hold: ${fault}`)
  }
  const box = strongest.bwrap === null ? strongest : { ...strongest, bwrap: null, seccomp: null }
  return { box, report: reportOf(await ask(probeCommand(box)), box, version, degraded) }
}

function boxesToTry(strongest: BoxOptions, degraded: string[]): BoxOptions[] {
  if (strongest.bwrap === null) {
    degraded.push(`nothing of the system closes the box, only the engine does: ${install}`)
    return []
  }
  if (strongest.seccomp !== null) return [strongest, { ...strongest, seccomp: null }]
  degraded.push(`no filter of system calls: none is known for ${process.arch}`)
  return [strongest]
}

function faultIn({ open, startsProcesses }: ProbeReport, { seccomp }: BoxOptions): string | null {
  const ways = startsProcesses && seccomp ? [...open, 'a new process'] : open
  return ways.length === 0 ? null : `it leaves open ${ways.join(', ')}`
}

function failureOf(thrown: unknown): string {
  const { message, context } = toAppError(thrown)
  return String(context.stderr ?? '').trim() || message
}

/** Runs the probe in the box, after putting up what it would find if the box were open. */
async function probe(box: BoxOptions): Promise<ProbeReport> {
  const folder = await mkdtemp(join(tmpdir(), 'metier-probe-'))
  const server = await listen()
  try {
    const file = join(folder, 'file')
    await writeFile(file, 'probe')
    const { port } = server.address() as { port: number }
    return await ask(probeCommand(box, [String(port), file, homeFolder()]))
  } finally {
    server.close()
    await rm(folder, { recursive: true })
  }
}

async function ask(command: BoxCommand): Promise<ProbeReport> {
  const probing = openBox(command)
  const late = new AppError('SANDBOX_SETUP_FAILED', `Cannot test the box: silent for ${limits.boxStartMsMax} ms`)
  const timer = setTimeout(() => probing.kill(late), limits.boxStartMsMax)
  const line = await probing.ask('').finally(() => clearTimeout(timer))
  await probing.gone
  return JSON.parse(line)
}

/** A user without an entry in the system's list has none. */
function homeFolder(): string {
  try {
    return homedir()
  } catch {
    return '/root'
  }
}

function listen(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', reject).listen(0, '127.0.0.1', () => resolve(server))
  })
}

async function stackGranted(): Promise<number> {
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', 'ulimit -H -s'], { env: {} })
  const kilobytes = stdout.trim() === 'unlimited' ? Number.POSITIVE_INFINITY : Number(stdout)
  return Math.min(limits.boxStackBytesMax, kilobytes * 1024)
}

/** `seen` is the word of the probe: what it could do is not enforced, whatever we asked for. */
function reportOf(seen: ProbeReport, box: BoxOptions, version: string, degraded: string[]): IsolationReport {
  const { bwrap, seccomp } = box
  const namespace = bwrap ? 'namespace' : 'engine'
  const hasData = seen.limits.data !== null && seen.limits.data <= limits.boxDataBytesMax
  const hasStack = box.stackBytes === limits.boxStackBytesMax && seen.limits.stack === box.stackBytes
  if (!hasData) degraded.push('the memory of the process around the engine is not limited')
  if (!hasStack) degraded.push('the stack of the process is small: V8 may end a deep recursion before the engine does')
  return {
    tier: bwrap ? 'os' : 'wasm',
    layers: [
      'quickjs-wasm',
      'process',
      'node-permission',
      ...(bwrap ? ['bubblewrap'] : []),
      ...(seccomp ? ['seccomp'] : []),
    ],
    runtime: { name: 'quickjs-wasi', version },
    enforced: {
      memory: hasData ? 'engine, rlimit' : 'engine',
      cpu: 'engine',
      pids: seen.startsProcesses ? 'engine' : 'seccomp',
      disk: bwrap ? 'read-only' : seen.limits.file === 0 ? 'engine, rlimit' : 'engine',
      network: seccomp ? 'namespace, seccomp' : namespace,
      files: namespace,
    },
    degraded,
  }
}
