/**
 * The one gate: `npm test` runs every check and every test, says what was not run and why, and ends
 * with one line that counts.
 */
import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type FileReport, runTestFile } from './test-file.ts'
import type { Outcome, TestReport } from './test-reporter.ts'
import { importsOf } from './tidy-imports.ts'

type Check = { name: string; args: string[] }
type Stage = { name: string; patterns: string[]; except?: string[]; concurrency: number; quick?: true }
type Entry = TestReport & { file?: string }

const root = dirname(import.meta.dirname)

const checks: Check[] = [
  { name: 'format', args: ['node_modules/@biomejs/biome/bin/biome', 'ci', '--colors=off', '--error-on-warnings', '.'] },
  { name: 'types', args: ['node_modules/typescript/bin/tsc', '-p', '.'] },
  { name: 'tidy', args: ['scripts/tidy.ts'] },
  { name: 'traceability', args: ['scripts/traceability.ts'] },
]

/** Unit tests that start servers and boxes by the dozen: not for every day. */
const slow = [
  'src/catalog/catalog.test.ts',
  'src/catalog/processes/server-reaper.test.ts',
  'src/catalog/hostile.test.ts',
  'src/catalog/oauth/oauth.test.ts',
  'src/gateway/api/approval-routes.test.ts',
  'src/gateway/elicitation/elicit.test.ts',
  'src/gateway/passthrough/passthrough-server.test.ts',
  'src/gateway/mcp/progress.test.ts',
  'src/gateway/serve-stdio.test.ts',
  'src/run/record/budget-spent.test.ts',
  'src/sandbox/escape.test.ts',
  'src/sandbox/isolation.test.ts',
  'src/sandbox/limits.test.ts',
  'src/sandbox/pristine.test.ts',
  'src/sandbox/tier.test.ts',
  'src/sandbox/v8*.test.ts',
  'src/show/**/*.test.ts',
  'src/verbs/*.test.ts',
  'scripts/services.test.ts',
  'scripts/test.test.ts',
  // It waits for time limits, and others run beside it.
  'test/fault/silent-servers.test.ts',
]

const stages: Stage[] = [
  { name: 'unit', patterns: ['src/**/*.test.ts', 'scripts/**/*.test.ts'], except: slow, concurrency: 2, quick: true },
  { name: 'slow unit', patterns: slow, concurrency: 2 },
  { name: 'contract', patterns: ['test/contract/**/*.test.ts'], concurrency: 1 },
  { name: 'fault', patterns: ['test/fault/**/*.test.ts'], except: slow, concurrency: 1 },
  { name: 'simulation', patterns: ['test/simulation/**/*.test.ts'], concurrency: 2 },
  { name: 'conformance', patterns: ['test/conformance/**/*.test.ts'], concurrency: 1 },
  { name: 'e2e', patterns: ['test/e2e/**/*.test.ts'], concurrency: 1 },
]

const minutes = 60 * 1000

async function main(args: string[]): Promise<void> {
  const long = args.includes('--long')
  const quick = args.includes('--quick')
  const patterns = args.filter((arg) => !arg.startsWith('--'))
  const unknown = args.find((arg) => arg.startsWith('--') && arg !== '--long' && arg !== '--quick')
  if (unknown) {
    console.error(
      `Cannot run the tests: "${unknown}" is no option. There are --quick, --long, and the paths of test files.`,
    )
    process.exitCode = 2
    return
  }
  if (long) process.env.LONG = '1'
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())

  const entries: Entry[] = []
  const chosen =
    patterns.length > 0
      ? [{ name: 'chosen', patterns, concurrency: 2 }]
      : stages.filter((stage) => !quick || stage.quick)
  if (patterns.length === 0) for (const check of checks) entries.push(await runCheck(check))
  const cwd = patterns.length > 0 ? process.cwd() : root
  const timeoutMs = (long ? 60 : 10) * minutes
  for (const stage of chosen) entries.push(...(await runStage(stage, { root: cwd, timeoutMs, signal: stop.signal })))
  const code = close(entries)
  process.exitCode = stop.signal.aborted ? 130 : code
}

async function runCheck({ name, args }: Check): Promise<Entry> {
  const started = performance.now()
  const { code, output } = await execute(args)
  const outcome: Outcome = code === 0 ? 'passed' : 'failed'
  print(outcome, name, outcome, performance.now() - started)
  if (outcome === 'failed') console.log(indent(output))
  return { name, line: 1, outcome, reason: output }
}

function execute(args: string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
    child.on('error', (error) => resolve({ code: null, output: error.message }))
    child.on('close', (code) => resolve({ code, output }))
  })
}

type StageOptions = { root: string; timeoutMs: number; signal: AbortSignal }

async function runStage({ name, patterns, except = [], concurrency }: Stage, options: StageOptions): Promise<Entry[]> {
  const entries: Entry[] = []
  const waiting = testFiles(patterns, except, options.root)
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined && !options.signal.aborted; file = waiting.shift()) {
      const report = await runTestFile(file, options)
      printFile(name, report)
      entries.push(...report.tests.map((test) => ({ ...test, file: report.file })))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return entries
}

/**
 * A test file that others import is what they share: its tests, if it has any, run with theirs,
 * also where those others belong to another stage.
 */
function testFiles(patterns: string[], except: string[], cwd: string): string[] {
  const all = globSync(patterns, { cwd, exclude: ['**/node_modules/**'] })
  const shared = new Set(
    all.flatMap((file) =>
      importsOf(readFileSync(join(cwd, file), 'utf8')).map(({ specifier }) => join(dirname(file), specifier)),
    ),
  )
  const others = new Set(globSync(except, { cwd }))
  return all.filter((file) => !shared.has(file) && !others.has(file)).sort()
}

function printFile(stage: string, { file, tests, counted, ms, output }: FileReport): void {
  const failed = tests.filter((test) => test.outcome === 'failed')
  print(failed.length > 0 ? 'failed' : 'passed', `${stage} ${file}`, counts(tests), ms)
  for (const line of counted) console.log(indent(line))
  for (const test of failed) console.log(indent(`${test.name}\n${indent(test.reason ?? '')}`))
  if (failed.length > 0 && output !== '') console.log(indent(`what it printed:\n${indent(output)}`))
}

function print(outcome: Outcome, name: string, what: string, ms: number): void {
  console.log(`${outcome === 'failed' ? 'FAIL' : 'ok  '}  ${name.padEnd(56)}  ${what}, ${(ms / 1000).toFixed(1)} s`)
}

/**
 * The end of every run: failures again, what was not run, and the counts alone on the last line.
 */
function close(entries: Entry[]): number {
  const failed = entries.filter((entry) => entry.outcome === 'failed')
  const skipped = entries.filter((entry) => entry.outcome === 'skipped')
  console.log('')
  for (const { file, line, name, reason = '' } of failed) {
    console.log(`failed: ${file ? `${file}:${line} ` : ''}${name}: ${firstLine(reason)}`)
  }
  for (const { name, reason = '' } of skipped) console.log(`not run: ${name} — ${firstLine(reason)}`)
  const ran = entries.filter((entry) => entry.file && entry.outcome !== 'skipped')
  if (ran.length === 0) console.log('failed: no test was run')
  console.log(counts(entries))
  return failed.length > 0 || ran.length === 0 ? 1 : 0
}

function counts(tests: TestReport[]): string {
  const count = (outcome: Outcome) => tests.filter((test) => test.outcome === outcome).length
  return `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]!
}

function indent(text: string): string {
  return text.replace(/\s+$/, '').replace(/^/gm, '    ')
}

await main(process.argv.slice(2))
