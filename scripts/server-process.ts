/**
 * A server for tests that outlives the command that started it: known by its executable, and ended
 * only while it is still the same.
 */
import { spawn } from 'node:child_process'
import {
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export type Command = { executable: string; args: string[]; env?: Record<string, string> }
type ProcessFile = { pid: number; executable: string }

const stopMsMax = 10_000

/**
 * Starts the command once; a second call finds it running. Its output goes to `log` in its folder.
 */
export function startServer(folder: string, command: Command): number {
  const running = runningServer(folder)
  if (running) return running.pid
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const log = openSync(join(folder, 'log'), 'a', 0o600)
  const executable = realpathSync(command.executable)
  const env = { PATH: process.env.PATH ?? '', HOME: folder, ...command.env }
  const child = spawn(executable, command.args, { cwd: folder, env, detached: true, stdio: ['ignore', log, log] })
  if (child.pid === undefined) throw new Error(`Cannot start ${executable}: see ${join(folder, 'log')}`)
  child.unref()
  writeFileSync(pidFile(folder), JSON.stringify({ pid: child.pid, executable } satisfies ProcessFile), { mode: 0o600 })
  return child.pid
}

/**
 * What runs for this folder, if its pid still belongs to the executable that we started: pids are
 * used again.
 */
export function runningServer(folder: string): ProcessFile | null {
  try {
    const known = JSON.parse(readFileSync(pidFile(folder), 'utf8')) as ProcessFile
    return readlinkSync(`/proc/${known.pid}/exe`) === known.executable ? known : null
  } catch {
    return null // no file, or no such process
  }
}

/** Asks first and kills after a while; a stranger under the old pid is left alone. */
export async function stopServer(folder: string, msMax: number = stopMsMax): Promise<void> {
  signal(folder, 'SIGTERM')
  if (!(await hasEnded(folder, msMax))) signal(folder, 'SIGKILL')
  if (!(await hasEnded(folder, stopMsMax))) throw new Error(`Cannot end the server of ${folder}: it survived SIGKILL`)
  rmSync(pidFile(folder), { force: true })
}

async function hasEnded(folder: string, msMax: number): Promise<boolean> {
  const until = performance.now() + msMax
  while (runningServer(folder) && performance.now() < until) await sleep(20)
  return runningServer(folder) === null
}

/** The addresses other than loopback on which a process listens, as the kernel writes them. */
export function openAddresses(pid: number): string[] {
  const sockets = new Set(readdirSync(`/proc/${pid}/fd`).map((fd) => socketOf(pid, fd)))
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state, , , , , , inode]) => state === '0A' && sockets.has(inode) && !isLoopback(local!))
      .map(([, local]) => local!),
  )
}

/** 127.0.0.0/8 and ::1, also as an IPv4 address in IPv6; each word in the kernel's byte order. */
function isLoopback(address: string): boolean {
  return /^(?:.{6}7F|0{24}01000000|0{16}FFFF0000.{6}7F):/.test(address)
}

function socketOf(pid: number, fd: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]
  } catch {
    return undefined // closed while we looked
  }
}

function signal(folder: string, name: 'SIGTERM' | 'SIGKILL'): void {
  const known = runningServer(folder)
  try {
    if (known) process.kill(-known.pid, name)
  } catch {
    // it ended between the look and the signal
  }
}

function pidFile(folder: string): string {
  return join(folder, 'pid.json')
}
