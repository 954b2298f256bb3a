/**
 * What a durable step costs: a chain of ten unsafe calls, 64 runs at once, on a record that
 * survives a power cut, as graphs and as programs in real boxes, against the record alone, which
 * only commits the same events. `node bench/run.ts [--json]`.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Catalog, openCatalog } from '#catalog'
import { newId, type Plan, parseConfig, type RunId } from '#model'
import type { Store } from '#record'
import { atOnce, payload, preferUs, type Rate, rate, steps } from './peers/chain.ts'
import { chainCode, chainGraph, homeFolder, inProcess, openBench, runToEnd, stepServer } from './peers/ours.ts'
import { start } from './record/bars.ts'

type Row = Rate & { name: string; cpuUs: number }

/**
 * The same events in the same commits, and nothing else: what an engine on this record could reach
 * at best.
 */
async function recordAlone(store: Store): Promise<void> {
  const chain = store.startRun(newId<RunId>(), start)
  for (let i = 1; i <= steps; i++) {
    const call = String(i)
    chain.append('call.issued', {
      call,
      tool: 'w:step',
      args: { n: i },
      effect: 'unsafe',
      effectFrom: null,
      definition: null,
    })
    chain.append('call.sent', { call, attempt: 1 })
    await chain.durable()
    const value = { n: i, payload }
    chain.append('call.resolved', { call, attempt: 1, outcome: 'answered', ok: true, value, ms: 0, by: 'upstream' })
  }
  await chain.finish({ status: 'done', result: steps, callCount: steps, ms: 0 })
}

/** CPU is that of this process, writer included; boxes and servers are others. */
async function timed(name: string, runs: number, width: number, run: () => Promise<unknown>): Promise<Row> {
  await rate(Math.min(runs, 64), 8, run)
  const before = process.cpuUsage()
  const measured = await rate(runs, width, run)
  const { user, system } = process.cpuUsage(before)
  return { name, ...measured, cpuUs: (user + system) / (runs * steps) }
}

async function engineRows(kind: string, catalog: Catalog, runs: number): Promise<Row[]> {
  const bench = await openBench(catalog)
  const rows: Row[] = []
  for (const [form, plan] of [
    ['graph', chainGraph],
    ['program', chainCode],
  ] as [string, Plan][]) {
    rows.push(await timed(`${form}, ${kind}, one run at a time`, 32, 1, () => runToEnd(bench, plan)))
    rows.push(await timed(`${form}, ${kind}, ${atOnce} at once`, runs, atOnce, () => runToEnd(bench, plan)))
  }
  await bench.close()
  return rows
}

async function main(): Promise<void> {
  preferUs()
  const alone = await openBench(inProcess())
  const bound = await timed(`the record alone, ${atOnce} at once`, 640, atOnce, () => recordAlone(alone.store))
  await alone.close()
  const rows = [bound, ...(await engineRows('a tool in this process', inProcess(), 640))]
  const folder = homeFolder()
  const config = parseConfig({ file: 'metier.json', text: stepServer, home: folder, env: {}, directory: folder })
  const catalog = openCatalog({ servers: config.servers, folder: join(folder, 'catalog'), baseEnv: {} })
  rows.push(...(await engineRows('a server over stdio', catalog, 256)))
  rmSync(folder, { recursive: true, force: true })
  if (process.argv.includes('--json')) return console.log(JSON.stringify(rows))
  for (const { name, perSecond, p50, p99, cpuUs } of rows) {
    const share = `${((100 * perSecond) / bound.perSecond).toFixed(0)} %`.padStart(5)
    const times = `a run p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${cpuUs.toFixed(0)} µs of CPU a step`
    console.log(`${name.padEnd(48)} ${perSecond.toFixed(0).padStart(6)} steps/s ${share}  ${times}`)
  }
}

await main()
