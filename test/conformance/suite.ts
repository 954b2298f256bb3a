/** Runs the MCP conformance suite as its own command says, against the failures that we expect, and tells what it counted. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'metier', 'services')
const folder = join(cache, 'conformance', 'current', 'node_modules', '@modelcontextprotocol', 'conformance')
const program = join(folder, 'dist', 'index.js')

export const missing = existsSync(program) ? false : 'needs conformance: node scripts/services.ts up conformance'

/** The newest set of requirements of each protocol era. */
export type Revision = '2026-07-28' | '2025-11-25'

export type Verdict = { code: number | null; output: string; counts: string }

export async function runSuite(
  leg: 'client' | 'server',
  revision: Revision,
  args: string[],
  cwd: string,
): Promise<Verdict> {
  const options = ['--requirements', revision, '--expected-failures', expectedFile(revision), '-o', cwd]
  const child = spawn(process.execPath, [program, leg, ...args, ...options], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output, counts: countsOf(output) }
}

export function expectedFile(revision: Revision): string {
  return join(import.meta.dirname, `expected-${revision}.yml`)
}

/** The lines of the file that name a failure without saying why. */
export function unjustified(revision: Revision): string[] {
  const lines = readFileSync(expectedFile(revision), 'utf8').split('\n')
  return lines.filter((line) => /^\s*- /.test(line) && !/#.{12,}/.test(line))
}

function countsOf(output: string): string {
  const marks = (mark: string) => output.split('\n').filter((line) => line.startsWith(`${mark} `)).length
  const total = /^Total: (.*)$/m.exec(output)?.[1] ?? 'nothing was counted'
  return `${marks('✓')} scenarios pass, ${marks('✗')} do not; checks: ${total}`
}
