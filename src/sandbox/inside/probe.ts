/**
 * Looks for ways out of the box, as code that had left the engine would, and says what it found as
 * one line of JSON.
 */
import { readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'

export type ProbeReport = {
  /** Each names a way that was open. */
  open: string[]
  startsProcesses: boolean
  /** Those of the process; null where there is none. */
  limits: { data: number | null; stack: number | null; file: number | null; core: number | null; files: number | null }
}

/**
 * What of the host can be found where the box is open; nothing, where there is only the process to
 * be measured.
 */
const [port, hostFile, hostFolder] = process.argv.slice(2)

function works(act: () => void): boolean {
  try {
    act()
    return true
  } catch {
    return false
  }
}

function reachesHost(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.setTimeout(1000, () => resolve(false))
  })
}

async function startsProcesses(): Promise<boolean> {
  const { spawnSync } = await import('node:child_process')
  return spawnSync(process.execPath, ['--version'], { timeout: 1000 }).error === undefined
}

/**
 * Variables that came from the host, also where a process before us had them; the box has two of
 * its own.
 */
function environment(): string[] {
  const variables = Object.entries(process.env).map(([name, value]) => `${name}=${value}`)
  for (const file of ['/proc/self/environ', '/proc/1/environ']) {
    works(() => variables.push(...readFileSync(file, 'latin1').split('\0')))
  }
  return variables.filter((variable) => !['', 'PWD=/', 'HOME=/'].includes(variable))
}

function writes(folder: string): boolean {
  const file = `${folder}/metier-probe-${process.pid}`
  const written = works(() => writeFileSync(file, ''))
  works(() => unlinkSync(file))
  return written
}

async function openWays(): Promise<string[]> {
  if (port === undefined || hostFile === undefined || hostFolder === undefined) return []
  const found = {
    'the network of the host': await reachesHost(),
    'a place to write': ['', '/usr', '/usr/lib', '/tmp', '/box', '/box/inside', '/dev', '/dev/shm'].some(writes),
    'a file of the host': works(() => readFileSync(hostFile)),
    'the home folder': works(() => readdirSync(hostFolder)),
    'the environment of the host': environment().length > 0,
  }
  return Object.entries(found).flatMap(([way, isOpen]) => (isOpen ? [way] : []))
}

type Limit = { hard: number | 'unlimited' }

function limitsHere(): ProbeReport['limits'] {
  const { userLimits } = process.report.getReport() as unknown as { userLimits: Record<string, Limit> }
  const hard = (name: string) => {
    const value = userLimits[name]?.hard
    return typeof value === 'number' ? value : null
  }
  return {
    data: hard('data_seg_size_bytes'),
    stack: hard('stack_size_bytes'),
    file: hard('file_size_blocks'),
    core: hard('core_file_size_blocks'),
    files: hard('open_files'),
  }
}

const report: ProbeReport = {
  open: await openWays(),
  startsProcesses: await startsProcesses(),
  limits: limitsHere(),
}
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0))
