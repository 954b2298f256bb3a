/**
 * Runs one test file in a process group of its own: what its tests said, and whether it ended well,
 * in time and without leaving anything running.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ReportLine, TestReport } from './test-reporter.ts'

/**
 * `counted` is what a test has counted and wants said, as its diagnostics that begin with this
 * word.
 */
export type FileReport = { file: string; tests: TestReport[]; counted: string[]; ms: number; output: string }
export type FileOptions = { root: string; timeoutMs: number; signal?: AbortSignal }
type End = { how: string | null; pid: number; output: string }

const reporter = join(import.meta.dirname, 'test-reporter.ts')
const outputBytesMax = 64 * 1024
const leftoversMsMax = 2000

export async function runTestFile(file: string, options: FileOptions): Promise<FileReport> {
  const folder = mkdtempSync(join(tmpdir(), 'metier-test-'))
  const destination = join(folder, 'report.jsonl')
  const started = performance.now()
  try {
    const end = await runProcess(file, destination, options)
    const ms = performance.now() - started
    const lines = existsSync(destination) ? linesOf(readFileSync(destination, 'utf8')) : []
    const tests = lines.filter((line) => 'outcome' in line)
    const failures = [...failuresOfFile(end, lines), ...(await leftovers(end.pid))]
    tests.push(...failures.map((reason) => ({ name: 'the file itself', outcome: 'failed' as const, line: 1, reason })))
    const counted = lines.flatMap((line) => ('note' in line && /^counted: (.*)/.exec(line.note)?.[1]) || [])
    return { file, tests, counted, ms, output: end.output }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Ends when the process does; at the time limit or when we are told to stop, its whole group is
 * killed.
 */
function runProcess(file: string, destination: string, { root, timeoutMs, signal }: FileOptions): Promise<End> {
  const args = [`--test-reporter=${reporter}`, `--test-reporter-destination=${destination}`, file]
  // A gate that runs inside a test would make the children believe that they are that test's.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(process.execPath, args, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const pid = child.pid ?? 0
  let output = ''
  let how: string | null = null
  const kill = (why: string) => {
    how = why
    killGroup(pid)
  }
  const collect = (chunk: Buffer) => {
    output = (output + chunk).slice(-outputBytesMax)
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const timer = setTimeout(() => kill(`did not end within ${timeoutMs / 1000} s`), timeoutMs)
  const onAbort = () => kill('was interrupted')
  signal?.addEventListener('abort', onAbort)
  return new Promise((resolve) => {
    const done = (last: string | null) => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      resolve({ how: how ?? last, pid, output })
    }
    child.on('error', (error) => done(`could not be started: ${error.message}`))
    // Not "close": a process that was left running may hold the pipes open for ever.
    child.on('exit', (code, killedBy) => done(code === 0 ? null : `ended with ${killedBy ?? `exit code ${code}`}`))
  })
}

function linesOf(text: string): ReportLine[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ReportLine)
}

/**
 * What no test of the file says: it crashed, it stopped early, it has no test, an error came after
 * its test.
 */
function failuresOfFile({ how }: End, lines: ReportLine[]): string[] {
  const tests = lines.filter((line) => 'outcome' in line)
  const ended = lines.some((line) => 'end' in line)
  if (!ended) return [`the file ${how ?? 'ended with exit code 0'}: its tests never came to their end`]
  if (tests.length === 0) return ['the file has no test']
  if (how === null || tests.some((test) => test.outcome === 'failed')) return []
  const notes = lines.filter((line) => 'note' in line).map((line) => line.note)
  return [
    [`the file ${how} although every test passed`, ...notes.filter((note) => note.startsWith('Error'))].join('\n'),
  ]
}

/** A test cleans up after itself; what it left is ended here, and said. */
async function leftovers(group: number): Promise<string[]> {
  const until = performance.now() + leftoversMsMax
  while (membersOf(group).length > 0 && performance.now() < until) await sleep(20)
  const names = membersOf(group)
  if (names.length === 0) return []
  killGroup(group)
  return [`the file left running: ${names.join(', ')}`]
}

/**
 * The living processes of a group by name, where the kernel tells (Linux); a zombie is not
 * counted.
 */
function membersOf(group: number): string[] {
  if (group === 0 || !existsSync('/proc/self/stat')) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const [, name, state, pgrp] = /^\d+ \((.*)\) (\S) \d+ (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))!
        return Number(pgrp) === group && state !== 'Z' ? [`${name} (${pid})`] : []
      } catch {
        return [] // it ended while we looked
      }
    })
}

function killGroup(group: number): void {
  try {
    if (group > 0) process.kill(-group, 'SIGKILL')
  } catch {
    // no process is left
  }
}
