/** Decides by execution how well a box is closed: a layer that was not seen to hold is not in the report. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError, type IsolationReport, limits, toAppError } from '#model'
import { openBox } from './box.ts'
import { type BoxOptions, probeCommand } from './command.ts'
import type { ProbeReport } from './inside/probe.ts'
import { seccompFilter } from './seccomp.ts'

export type Isolation = { report: IsolationReport; box: BoxOptions }

const runtime = { name: 'quickjs-wasi' }
const install = 'install bubblewrap (apt-get install bubblewrap)'

/** The strongest box that holds here: bubblewrap with a filter, bubblewrap, or the engine's own walls. */
export async function chooseIsolation(node: string, bwrap: string | null, version: string): Promise<Isolation> {
  const degraded: string[] = []
  if (bwrap === null) degraded.push(`no layer of the system around the engine: ${install}`)
  else {
    const seccomp = seccompFilter()
    if (seccomp === null) degraded.push(`no filter for system calls: none is known for ${process.arch}`)
    for (const filter of seccomp ? [seccomp, null] : [null]) {
      const box = { node, bwrap, seccomp: filter }
      const fault = await faultOf(box)
      if (fault === null) return { report: osReport(version, filter !== null, degraded), box }
      degraded.push(`${filter ? 'bubblewrap with a filter for system calls' : 'bubblewrap'} does not hold: ${fault}`)
    }
  }
  return { report: wasmReport(version, degraded), box: { node, bwrap: null, seccomp: null } }
}

/** What is wrong with a box; null where every way out was seen to be closed. */
async function faultOf(box: BoxOptions): Promise<string | null> {
  try {
    const { network, rootWritable, filesReadable, processStartable, environment } = await probe(box)
    if (network) return 'the network of the host can be reached'
    if (rootWritable) return 'its root can be written to'
    if (filesReadable) return 'files of the host can be read'
    if (processStartable && box.seccomp !== null) return 'it can start processes'
    return environment.length > 0 ? `it sees ${environment.join(', ')} of the environment` : null
  } catch (thrown) {
    const { message, context } = toAppError(thrown)
    return `${message} ${String(context.stderr ?? '')}`.trim()
  }
}

async function probe(box: BoxOptions): Promise<ProbeReport> {
  const folder = await mkdtemp(join(tmpdir(), 'metier-probe-'))
  const server = await listen()
  try {
    const file = join(folder, 'file')
    await writeFile(file, 'probe')
    const { port } = server.address() as { port: number }
    const command = probeCommand(box, [String(port), file, homedir()])
    const probing = openBox(command)
    const message = `Cannot test the box: no answer within ${limits.boxStartMsMax} ms`
    const timer = setTimeout(
      () => probing.kill(new AppError('SANDBOX_SETUP_FAILED', message, {})),
      limits.boxStartMsMax,
    )
    const line = await probing.ask('').finally(() => clearTimeout(timer))
    await probing.gone
    return JSON.parse(line)
  } finally {
    server.close()
    await rm(folder, { recursive: true })
  }
}

function listen(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', reject).listen(0, '127.0.0.1', () => resolve(server))
  })
}

const closedByEngine = { memory: 'engine, rlimit', cpu: 'engine' }

function osReport(version: string, filtered: boolean, degraded: string[]): IsolationReport {
  return {
    tier: 'os',
    layers: ['quickjs-wasm', 'node-permission', 'process', 'bubblewrap', ...(filtered ? ['seccomp'] : [])],
    runtime: { ...runtime, version },
    enforced: {
      ...closedByEngine,
      pids: filtered ? 'seccomp' : 'none',
      disk: 'read-only',
      network: filtered ? 'namespace, seccomp' : 'namespace',
      files: 'namespace',
    },
    degraded,
  }
}

function wasmReport(version: string, degraded: string[]): IsolationReport {
  return {
    tier: 'wasm',
    layers: ['quickjs-wasm', 'node-permission', 'process'],
    runtime: { ...runtime, version },
    enforced: { ...closedByEngine, pids: 'engine', disk: 'engine', network: 'engine', files: 'engine' },
    degraded,
  }
}
