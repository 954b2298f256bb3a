/**
 * Decides by execution how well a box is closed: a wall that was not seen to hold is not in the
 * report.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { AppError, type IsolationReport, limits, toAppError } from '#model'
import { engineRefusals, notInstalled, seccompFilter } from '#sandbox/host'
import { platforms } from '#sandbox/script-box'
import { type BoxCommand, openBox } from './box.ts'
import { type BoxOptions, dataBytesOf, probeCommand, type Walls } from './command.ts'
import type { EngineIdentity } from './engine-identity.ts'
import type { ProbeReport } from './inside/probe.ts'
import { BoxDeath, startAgain } from './start-box.ts'

export type Isolation = { report: IsolationReport; box: BoxOptions }

export type Wanted = {
  node: string
  bwrap: string | null
  runsc: string | null
  /** Where boxes on gVisor may keep what they need; null: nowhere. */
  folder: string | null
  /** Only the strongest will do. */
  onlyGvisor: boolean
  addon: string | null
  inside?: string
}

/**
 * The boxes that could hold here, the first choice first; one without walls is none for an engine
 * that is no wall itself.
 */
export async function boxesToTry(wanted: Wanted): Promise<BoxOptions[]> {
  const { node, bwrap, runsc, folder, onlyGvisor, addon, inside } = wanted
  const stackBytes = await stackGranted()
  const walls: Walls[] = []
  if (bwrap !== null && !onlyGvisor) {
    const seccomp = seccompFilter()
    if (seccomp !== null) walls.push({ kind: 'bubblewrap', bwrap, seccomp })
    walls.push({ kind: 'bubblewrap', bwrap, seccomp: null })
  }
  if (runsc !== null && folder !== null) {
    for (const platform of platforms) walls.push({ kind: 'gvisor', runsc, platform, folder, refusals: engineRefusals })
  }
  if (addon === null && !onlyGvisor) walls.push({ kind: 'none' })
  return walls.map((one) => ({ node, walls: one, stackBytes, addon, ...(inside !== undefined && { inside }) }))
}

/** The first box that does hold; without walls there is nothing to be tried. */
export async function chooseIsolation(boxes: BoxOptions[], engine: EngineIdentity): Promise<Isolation> {
  const degraded: string[] = []
  for (const box of boxes) {
    if (box.walls.kind === 'none') {
      if (boxes.length === 1) degraded.push(`nothing of the system closes the box, only the engine does: ${install}`)
      return { box, report: reportOf(await ask(probeCommand(box)), box, engine, degraded) }
    }
    // A probe that was killed says nothing about the box: to go on with a weaker one would be
    // wrong.
    const seen = await startAgain(() => probe(box)).catch(failureOf)
    const fault = typeof seen === 'string' ? seen : faultIn(seen, box.walls)
    if (fault === null) return { box, report: reportOf(seen as ProbeReport, box, engine, degraded) }
    degraded.push(`${nameOf(box.walls)} does not hold: ${fault}`)
  }
  throw new AppError('SANDBOX_SETUP_FAILED', `Cannot open a box: ${degraded.join('; ')}`, { degraded })
}

const install = 'install bubblewrap (apt-get install bubblewrap)'

function nameOf(walls: Walls): string {
  if (walls.kind === 'gvisor') return `gVisor with ${walls.platform}`
  return walls.kind === 'bubblewrap' && walls.seccomp ? 'bubblewrap with a filter of system calls' : 'bubblewrap'
}

/** What is missing where not even one box could be tried, with the command that adds it. */
export function nothingToTry({ onlyGvisor, addon }: Wanted): AppError {
  const { tier, detail, fix } = notInstalled(onlyGvisor ? 'gvisor' : 'os')
  const what =
    addon === null ? `run a program at tier ${tier}` : 'use the engine "v8" without a box of the system around it'
  return new AppError('SANDBOX_SETUP_FAILED', `Cannot ${what}: ${detail}. Run: ${fix}`, { tier, fix })
}

function faultIn({ open, startsProcesses }: ProbeReport, walls: Walls): string | null {
  const isFiltered = walls.kind === 'bubblewrap' && walls.seccomp !== null
  const ways = startsProcesses && isFiltered ? [...open, 'a new process'] : open
  return ways.length === 0 ? null : `it leaves open ${ways.join(', ')}`
}

function failureOf(thrown: unknown): string {
  const lastWords = thrown instanceof BoxDeath ? thrown.stderr.trim() : ''
  return lastWords || toAppError(thrown).message
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
function reportOf(
  seen: ProbeReport,
  box: BoxOptions,
  { name, version }: EngineIdentity,
  degraded: string[],
): IsolationReport {
  const { walls, addon, stackBytes } = box
  const hasData = seen.limits.data !== null && seen.limits.data <= dataBytesOf(box)
  const hasStack = stackBytes === limits.boxStackBytesMax && seen.limits.stack === stackBytes
  if (walls.kind === 'bubblewrap' && walls.seccomp === null && degraded.length === 0)
    degraded.push(`no filter of system calls: none is known for ${process.arch}`)
  if (!hasData) degraded.push('the memory of the process around the engine is not limited')
  if (!hasStack) degraded.push('the stack of the process is small: V8 may end a deep recursion before the engine does')
  if (addon) degraded.push(...weaknessesOfV8)
  return {
    tier: walls.kind === 'none' ? 'wasm' : walls.kind === 'gvisor' ? 'gvisor' : 'os',
    layers: [addon ? 'v8-isolate' : 'quickjs-wasm', 'process', 'node-permission', ...layersOf(walls)],
    runtime: { name, version },
    enforced: {
      memory: hasData ? 'engine, rlimit' : 'engine',
      cpu: addon ? 'timeout' : 'engine',
      ...heldBy(walls, seen),
    },
    degraded,
  }
}

/** What the other engine has and this one cannot have. */
const weaknessesOfV8 = [
  'V8 counts no ticks: what a program computes is bounded by time',
  'V8 lets a program catch that its stack or the memory for a buffer is used up: one that does may replay differently',
]

function layersOf(walls: Walls): string[] {
  if (walls.kind === 'none') return []
  if (walls.kind === 'gvisor') return ['gvisor', walls.platform, 'seccomp']
  return ['bubblewrap', ...(walls.seccomp ? ['seccomp'] : [])]
}

function heldBy(walls: Walls, { startsProcesses, limits: { file } }: ProbeReport) {
  if (walls.kind === 'gvisor') return { pids: 'rlimit', disk: 'read-only', network: 'gvisor', files: 'gvisor' }
  const pids = startsProcesses ? 'engine' : 'seccomp'
  if (walls.kind === 'none')
    return { pids, disk: file === 0 ? 'engine, rlimit' : 'engine', network: 'engine', files: 'engine' }
  return { pids, disk: 'read-only', network: walls.seccomp ? 'namespace, seccomp' : 'namespace', files: 'namespace' }
}
