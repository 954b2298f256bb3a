/**
 * Runs the MCP conformance suite as its own command says, against the failures that we expect, and
 * tells what it counted.
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'metier', 'services')
const folder = join(cache, 'conformance', 'current', 'node_modules', '@modelcontextprotocol', 'conformance')
const program = join(folder, 'dist', 'index.js')

export const missing = existsSync(program) ? false : 'needs conformance: node scripts/services.ts up conformance'

/** The newest set of requirements of each protocol era. */
export type Revision = '2026-07-28' | '2025-11-25'

/**
 * A file of expected failures: of a set of requirements, or of one for servers of the other era.
 */
export type Baseline = Revision | '2026-07-28-legacy'

export type Leg = 'client' | 'server'

export type Verdict = { code: number | null; output: string; counts: string }

/**
 * Against the failures that are expected. On a busy machine the suite's own servers drop
 * connections that stood idle for too long, so what fails unexpectedly is tried again alone, and
 * counts when it fails then too. What is expected to fail is run alone beforehand: it may fail in
 * the checks that its line names, and in no other. `warm` is there for what has to run already.
 */
export async function runSuite(
  leg: Leg,
  revision: Revision,
  args: string[],
  cwd: string,
  { baseline = revision, warm = async () => {} }: { baseline?: Baseline; warm?: () => Promise<void> } = {},
): Promise<Verdict> {
  await warm()
  const runAlone = (scenario: string) => run([leg, ...args, '--scenario', scenario, '--spec-version', revision], cwd)
  const verdictOf = (scenario: string, output: string, counts: string) => ({
    code: 1,
    output: `${scenario}\n${output.slice(-8000)}`,
    counts,
  })
  for (const [scenario, named] of expectedIn(baseline)) {
    const unnamed = ({ output }: { output: string }) =>
      [...output.matchAll(/\[([\w-]+) *\] FAILURE/g)]
        .map(([, check]) => check!)
        .filter((check) => !named.includes(check))
    let alone = await runAlone(scenario)
    if (unnamed(alone).length > 0) alone = await warm().then(() => runAlone(scenario))
    if (unnamed(alone).length > 0) return verdictOf(scenario, alone.output, `${scenario} fails in ${unnamed(alone)}`)
  }
  const expected = ['--expected-failures', expectedFile(baseline)]
  const { code, output } = await run([leg, ...args, '--requirements', revision, ...expected], cwd)
  const counts = countsOf(output)
  const unexpected = namesAfter('Unexpected failures (not in baseline)', output)
  if (code === 0 || unexpected.length === 0) return { code, output: summaryOf(output), counts }
  for (const scenario of unexpected) {
    const alone = await runAlone(scenario)
    if (alone.code !== 0) return verdictOf(scenario, alone.output, counts)
  }
  const stale = namesAfter('Stale', output)
  return { code: stale.length, output: summaryOf(output), counts }
}

async function run(args: string[], cwd: string): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [program, ...args, '-o', cwd], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output: stripVTControlCharacters(output) }
}

/** The scenarios that stand in the list under a heading. */
function namesAfter(heading: string, output: string): string[] {
  const [, list = ''] = output.split(heading)
  const lines = list.split('\n').slice(1)
  const end = lines.findIndex((line) => !/^\s+\S/.test(line))
  return lines.slice(0, end < 0 ? undefined : end).map((line) => line.trim().replace(/^\S\s+/, ''))
}

const summaryOf = (output: string) => output.slice(Math.max(0, output.lastIndexOf('SUMMARY ===')))

export function expectedFile(baseline: Baseline): string {
  return join(import.meta.dirname, `expected-${baseline}.yml`)
}

const expectedLines = (baseline: Baseline) =>
  readFileSync(expectedFile(baseline), 'utf8')
    .split('\n')
    .filter((line) => /^\s*- /.test(line))

/** Each scenario that is expected to fail, and what its line says of it. */
function expectedIn(baseline: Baseline): (readonly [string, string])[] {
  return expectedLines(baseline).map((line) => {
    const [, scenario, why] = /^\s*- (\S+)\s*(.*)$/.exec(line)!
    return [scenario!, why!] as const
  })
}

/** The lines of the file that name a failure without saying why. */
export function unjustified(baseline: Baseline): string[] {
  return expectedLines(baseline).filter((line) => !/#.{12,}/.test(line))
}

function countsOf(output: string): string {
  const names = (mark: string) => [...output.matchAll(new RegExp(`^${mark} ([^\\s:]+):`, 'gm'))].map(([, name]) => name)
  const total = /^Total: (.*)$/m.exec(output)?.[1] ?? 'nothing was counted'
  const failing = names('✗')
  const named = failing.length === 0 ? '' : ` (${failing.join(', ')})`
  return `${names('✓').length} scenarios pass, ${failing.length} do not${named}; checks: ${total}`
}
