/**
 * Métier against other durable engines: a chain of ten steps, 64 runs at once, in rounds that take
 * turns, each engine in a process of its own as its makers ship it. `node scripts/services.ts up
 * peers` installs them. `node bench/peers.ts [--json]`.
 */
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { homedir, loadavg, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { atOnce, median, preferUs, type Rate, steps } from './peers/chain.ts'
import { freePort, startPostgres, startRestate } from './peers/servers.ts'

/** What survives: `power` a power cut, `crash` only the death of the process. */
type Engine = {
  name: string
  survives: 'power' | 'crash'
  open(): Promise<{ run(): Promise<Rate>; stop(): Promise<void> }>
}
type Row = { name: string; survives: Engine['survives']; rates: Rate[]; problem?: string }

const rounds = 3
const bar = 3
const here = import.meta.dirname
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'metier', 'services', 'peers')
const scratch = mkdtempSync(join(tmpdir(), 'metier-peers-'))
// Postgres runs as a user of its own, who has to get there.
chmodSync(scratch, 0o755)
const noStop = async () => {}

const ours = (form: string): Engine => ({
  name: `Métier, ${form === 'graph' ? 'a graph' : 'a program in its box'}`,
  survives: 'power',
  open: async () => ({
    run: () => timed(process.execPath, join(here, 'peers', 'metier.ts'), [form, '640']),
    stop: noStop,
  }),
})

const engines: Engine[] = [
  ours('graph'),
  ours('program'),
  {
    name: 'DBOS 5.3, Postgres 15',
    survives: 'power',
    async open() {
      const folder = packages('dbos')
      const { url, stop } = await startPostgres(scratch)
      return { run: () => timed(process.execPath, plain('dbos'), [folder, url, '256']), stop }
    },
  },
  {
    name: 'Restate 1.7',
    survives: 'power',
    async open() {
      const folder = packages('restate')
      const { url, admin, stop } = await startRestate(scratch, folder)
      const run = async () =>
        timed(process.execPath, plain('restate'), [folder, url, admin, String(await freePort()), '256'])
      return { run, stop }
    },
  },
  {
    name: 'LangGraph 1.4, SqliteSaver',
    survives: 'crash',
    async open() {
      const folder = packages('langgraph')
      const node = await nodeThatLoads(folder, 'better-sqlite3')
      const run = () => timed(node, plain('langgraph'), [folder, join(scratch, `lg-${performance.now()}.db`), '128'])
      return { run, stop: noStop }
    },
  },
  {
    name: 'Mastra 1.71, LibSQL',
    survives: 'crash',
    async open() {
      const folder = packages('mastra')
      const run = () =>
        timed(process.execPath, plain('mastra'), [folder, join(scratch, `m-${performance.now()}.db`), '64'])
      return { run, stop: noStop }
    },
  },
]

function packages(name: string): string {
  const folder = join(cache, name, 'current')
  if (existsSync(folder)) return folder
  throw new Error('it is not installed (node scripts/services.ts up peers)')
}

/** Without its types, so that an older Node can run it, too. */
function plain(name: string): string {
  for (const part of ['chain', name]) {
    const text = stripTypeScriptTypes(readFileSync(join(here, 'peers', `${part}.ts`), 'utf8'))
    writeFileSync(join(scratch, `${part}.mjs`), text.replaceAll('./chain.ts', './chain.mjs'))
  }
  return join(scratch, `${name}.mjs`)
}

/** A compiled driver fits the Node whose headers were at hand, which may not be ours. */
async function nodeThatLoads(folder: string, driver: string): Promise<string> {
  const found = (process.env.PATH ?? '').split(delimiter).map((place) => join(place, 'node'))
  for (const node of [process.execPath, ...found.filter((file) => existsSync(file))]) {
    const script = `new (require(${JSON.stringify(join(folder, 'node_modules', driver))}))(':memory:')`
    if ((await output(node, ['-e', script])).code === 0) return node
  }
  throw new Error(`no Node here loads its driver ${driver}`)
}

async function timed(node: string, file: string, args: string[]): Promise<Rate> {
  const { code, stdout, stderr } = await output(node, ['--disable-warning=ExperimentalWarning', file, ...args])
  if (code !== 0) throw new Error(`it ended with ${code}: ${stderr.trim().slice(-300)}`)
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Rate
}

function output(file: string, args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(file, args, { cwd: scratch, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr = (stderr + chunk).slice(-2000)
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, stdout, stderr })))
}

/** Rounds take turns, so that a noisy minute hits all alike. */
async function measure(): Promise<Row[]> {
  const rows: Row[] = engines.map(({ name, survives }) => ({ name, survives, rates: [] }))
  for (let round = 0; round < rounds; round++) {
    for (const [at, { open }] of engines.entries()) {
      const row = rows[at]!
      if (row.problem !== undefined) continue
      try {
        const { run, stop } = await open()
        row.rates.push(await run().finally(stop))
      } catch (error) {
        row.problem = (error as Error).message
      }
      rmSync(join(scratch, 'postgres'), { recursive: true, force: true })
      rmSync(join(scratch, 'restate'), { recursive: true, force: true })
    }
  }
  return rows
}

function report(rows: Row[]): boolean {
  const rateOf = ({ rates }: Row) => median(rates.map(({ perSecond }) => perSecond))
  const measured = rows.filter(({ rates, problem }) => rates.length > 0 && problem === undefined)
  const [graph, program, ...peers] = rows
  const best = peers
    .filter((row) => measured.includes(row) && row.survives === 'power')
    .sort((a, b) => rateOf(b) - rateOf(a))[0]
  for (const row of rows) {
    const { name, survives, rates, problem } = row
    const range = rates.map(({ perSecond }) => Math.round(perSecond)).sort((a, b) => a - b)
    const said =
      problem ??
      `${Math.round(rateOf(row))} steps/s  (${range[0]} to ${range.at(-1)}), a run ${Math.round(median(rates.map(({ p50 }) => p50)))} ms`
    console.log(`${name.padEnd(30)} survives a ${survives === 'power' ? 'power cut' : 'crash    '}  ${said}`)
  }
  if (best === undefined) return false
  const ratios = [graph!, program!].map((row) => rateOf(row) / rateOf(best))
  const ok = ratios[0]! >= bar
  console.log(
    `${ok ? 'ok    ' : 'MISSED'} a graph / the best that survives a power cut (${best.name}): ${ratios[0]!.toFixed(1)}  (≥ ${bar})`,
  )
  console.log(
    `${ratios[1]! >= bar ? 'ok    ' : 'MISSED'} a program in its box / the same: ${ratios[1]!.toFixed(1)}  (≥ ${bar})`,
  )
  return ratios.every((ratio) => ratio >= bar)
}

preferUs()
console.error(`${steps} steps, ${atOnce} runs at once, ${rounds} rounds; load before: ${loadavg()[0]!.toFixed(1)}`)
try {
  const rows = await measure()
  if (process.argv.includes('--json')) console.log(JSON.stringify(rows))
  else if (!report(rows)) process.exitCode = 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
