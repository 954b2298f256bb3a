/**
 * The only way out of the box of a server: a proxy of ours to the hosts that are named, and a
 * bridge in the box that leads to it.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { limits } from '#model'
import { openOutbound, parseOutbound } from '#sandbox/host'

export type ServerCommand = { command: string; args: string[]; env: Record<string, string>; cwd: string }

/** Where our own Node is in the box, for the bridge. */
export const nodeInside = '/box/node'
const proxyPort = 3128

/**
 * What a program in a box is started with, and the way to the outside that it has, which ends with
 * it.
 */
export type Way = {
  command(program: string[], env: Record<string, string>): ServerCommand
  takeRefusals(): string[]
  close(): void
}

/** `walls` is told the folder with the socket of our proxy, null where there is no way out. */
export async function openWay(
  walls: (way: string | null) => string[],
  hosts: readonly string[],
  folder: string,
  listedIn: string,
): Promise<Way> {
  const start = (words: string[], env: Record<string, string>): ServerCommand => {
    const [command = '', ...args] = words
    return { command, args, env, cwd: '/' }
  }
  if (hosts.length === 0) {
    const command: Way['command'] = (program, env) => start([...walls(null), ...program], env)
    return { command, takeRefusals: () => [], close: () => {} }
  }
  let refused: string[] = []
  const onConnection = ({ host, port, allowed }: { host: string; port: number; allowed: boolean }) => {
    if (!allowed && refused.length < limits.refusalsToldMax) refused.push(`${host}:${port}`)
  }
  const outbound = await openOutbound(socketFolder(folder), { allowed: allowedOf(hosts), onConnection, listedIn })
  return {
    command: (program, env) => {
      const bridge = [nodeInside, '--disable-warning=ExperimentalWarning', '-e', bridgeText, ...program]
      return start([...walls(outbound.folder), ...bridge], { ...env, ...proxyNames, ...directNames(hosts) })
    },
    takeRefusals() {
      const taken = [...new Set(refused)]
      refused = []
      return taken
    },
    close() {
      outbound.close()
      rmSync(outbound.folder, { recursive: true, force: true })
    },
  }
}

/** A host without a port is meant as one visits it. */
function allowedOf(hosts: readonly string[]): string[] {
  const hasPort = (host: string) => /(?:^[^:[\]]+|\]):\d+$/.test(host)
  return parseOutbound(hosts.flatMap((host) => (hasPort(host) ? [host] : [`${host}:443`, `${host}:80`])))
}

/**
 * Programs differ in which of these they read; Node's own requests read them where it is told so.
 */
const proxyNames: Record<string, string> = {
  ...Object.fromEntries(
    ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'].map((name) => [name, `http://127.0.0.1:${proxyPort}`]),
  ),
  NODE_USE_ENV_PROXY: '1',
}

/** The loopback of the box is its own, unless that of the machine was named. */
function directNames(hosts: readonly string[]): Record<string, string> {
  if (hosts.some((host) => /^(?:localhost|127\.|\[::1\])/.test(host))) return {}
  return { no_proxy: 'localhost,127.0.0.1,::1', NO_PROXY: 'localhost,127.0.0.1,::1' }
}

/**
 * Runs in the box before the server and as its parent: listens where programs look for a proxy, and
 * carries on to our socket.
 */
const bridgeText = `
const { connect, createServer } = require('node:net')
const { spawn } = require('node:child_process')
const proxy = createServer({ allowHalfOpen: true }, (inner) => {
  const outer = connect({ path: '/box/outbound/proxy', allowHalfOpen: true })
  const end = () => { inner.destroy(); outer.destroy() }
  inner.on('error', end).on('close', end).pipe(outer)
  outer.on('error', end).on('close', end).pipe(inner)
})
proxy.listen(${proxyPort}, '127.0.0.1', () => {
  const [program, ...args] = process.argv.slice(1)
  const child = spawn(program, args, { stdio: 'inherit' })
  child.on('error', (error) => { console.error(error.message); process.exit(127) })
  child.on('exit', (code, signal) => process.exit(signal ? 1 : code))
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
})`

let opened = 0

/**
 * A new one for each box; those of processes that died without taking theirs away are removed on
 * the way.
 */
function socketFolder(folder: string): string {
  const parent = join(folder, 'servers-outbound')
  mkdirSync(parent, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(parent)) {
    const [pid] = name.split('-')
    if (!isAlive(Number(pid))) rmSync(join(parent, name), { recursive: true, force: true })
  }
  return join(parent, `${process.pid}-${++opened}`)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
