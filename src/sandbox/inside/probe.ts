/** Looks for ways out of the box, as code that had left the engine would; says what it found as one line of JSON. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'

/** Each is true where the way was open. */
export type ProbeReport = {
  network: boolean
  rootWritable: boolean
  filesReadable: boolean
  processStartable: boolean
  environment: string[]
}

const [port, hostFile, hostFolder] = process.argv.slice(2) as [string, string, string]

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

async function startsProcess(): Promise<boolean> {
  const { spawnSync } = await import('node:child_process')
  return spawnSync(process.execPath, ['--version'], { timeout: 1000 }).error === undefined
}

function environment(): string[] {
  const names = Object.keys(process.env)
  for (const file of ['/proc/self/environ', '/proc/1/environ']) {
    works(() =>
      names.push(
        ...readFileSync(file, 'latin1')
          .split('\0')
          .map((line) => line.split('=')[0]!),
      ),
    )
  }
  return [...new Set(names)].filter((name) => name !== '' && name !== 'PWD')
}

const report: ProbeReport = {
  network: await reachesHost(),
  rootWritable: ['/probe', '/usr/probe', '/tmp/probe', '/box/probe', '/dev/shm/probe'].some((file) =>
    works(() => writeFileSync(file, 'probe')),
  ),
  filesReadable: works(() => readFileSync(hostFile)) || works(() => readdirSync(hostFolder)),
  processStartable: await startsProcess(),
  environment: environment(),
}
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit(0))
