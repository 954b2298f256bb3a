/**
 * The servers that two of the peers need, started for one bench in a folder of their own and ended
 * with it.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, globSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const startMsMax = 60_000

export type Server = { url: string; stop(): Promise<void> }

/**
 * As its makers ship it: every commit is on disk when it is acknowledged. It refuses to run as
 * root, so it gets a user.
 */
export async function startPostgres(folder: string): Promise<Server> {
  const [bin] = globSync('/usr/lib/postgresql/*/bin').sort().reverse()
  if (bin === undefined) throw new Error('Postgres is not installed (apt-get install postgresql)')
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {}
  const data = join(folder, 'postgres')
  mkdirSync(data)
  if (user.uid !== undefined) chownSync(data, user.uid, user.gid)
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'bench', '--auth=trust'], { ...user, stdio: 'pipe' })
  const port = await freePort()
  const args = [
    '-D',
    data,
    '-p',
    String(port),
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    `unix_socket_directories=${data}`,
  ]
  const child = spawn(join(bin, 'postgres'), args, { ...user, stdio: 'ignore' })
  const isReady = () => spawnOk(join(bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port)])
  await ready('Postgres', child, isReady)
  return { url: `postgresql://bench@127.0.0.1:${port}/bench?sslmode=disable`, stop: () => stop(child) }
}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
}

export type Restate = Server & { admin: string }

export async function startRestate(folder: string, packages: string): Promise<Restate> {
  const [binary] = globSync(join(packages, 'node_modules/@restatedev/restate-server-*/bin/restate-server'))
  if (binary === undefined) throw new Error('there is no binary of Restate for this machine')
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()]
  const env = {
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LISTEN_MODE: 'tcp',
  }
  const args = ['--no-logo', '--base-dir', join(folder, 'restate')]
  const child = spawn(binary, args, { env, cwd: folder, stdio: 'ignore' })
  const isReady = async () => (await fetch(`http://127.0.0.1:${admin}/health`)).ok
  await ready('Restate', child, isReady)
  return { url: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}`, stop: () => stop(child) }
}

async function ready(name: string, child: ChildProcess, isReady: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + startMsMax
  while (!(await isReady().catch(() => false))) {
    if (child.exitCode === null && performance.now() < until) await pause(100)
    else {
      await stop(child)
      throw new Error(`${name} did not start`)
    }
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGINT')
  const killer = setTimeout(() => child.kill('SIGKILL'), 5000)
  await exited
  clearTimeout(killer)
}

async function spawnOk(file: string, args: string[]): Promise<boolean> {
  const [code] = await once(spawn(file, args, { stdio: 'ignore' }), 'exit')
  return code === 0
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
