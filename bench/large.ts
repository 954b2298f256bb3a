/**
 * What a result of 50 MB does to all others: how long the process answers nothing while it
 * comes, is recorded and is read, against what one JSON.parse of the same message takes in the same
 * run. `node bench/large.ts [--json]`.
 */
import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '#model'
import { caller, openSpace, workspace } from '#test'
import { preferUs } from './record/bars.ts'

type Row = { name: string; worstMs: number; ms: number; parseMs: number }

const bytes = 50_000_000
const after: (() => unknown)[] = []
const scope = { after: (step: () => unknown) => void after.push(step) }

function messageOf(tool: string): string {
  const text = JSON.stringify({ text: 'x'.repeat(bytes) })
  const one = { name: 'row number 123456', tags: ['red', 'green'], share: 123456 / 7, note: 'what stands in every row' }
  const rows = () => JSON.stringify({ rows: Array.from({ length: bytes / 100 }, (_, id) => ({ id, ...one })) })
  const value = tool === 'fx:big' ? text : rows()
  return `{"content":[{"type":"text","text":${JSON.stringify(value)}}],"structuredContent":${value}}`
}

function parseMs(text: string): number {
  const times = Array.from({ length: 3 }, () => {
    const began = performance.now()
    JSON.parse(text)
    return performance.now() - began
  })
  return Math.min(...times)
}

/** The longest time in which nothing else could happen. */
async function watched(name: string, parse: number, act: () => Promise<JsonObject>): Promise<[Row, JsonObject]> {
  const delay = monitorEventLoopDelay({ resolution: 2 })
  delay.enable()
  const began = performance.now()
  const answer = await act()
  const ms = performance.now() - began
  await pause(20)
  delay.disable()
  return [{ name, worstMs: delay.max / 1e6, ms, parseMs: parse }, answer]
}

async function main(): Promise<void> {
  preferUs()
  const verbs = await openSpace(workspace(scope, { config: { record: { secrets: ['sk-[A-Za-z0-9]{20,}'] } } }))
  const plans = (tool: string) => ({
    graph: { type: 'dag', tasks: [{ id: 'one', tool, arguments: { bytes } }] },
    program: { type: 'code', code: `return await tool('${tool}', { bytes: ${bytes} }).catch((error) => error.code)` },
  })
  const warm = { type: 'code', code: `return await mcp.fx.read({ key: 'none' })` }
  await verbs.execute({ implementation: warm }, caller)
  const rows: Row[] = []
  for (const [what, tool, path] of [
    ['one text', 'fx:big', '/text'],
    ['500,000 rows', 'fx:rows', '/rows'],
  ] as const) {
    const parse = parseMs(messageOf(tool))
    for (const [form, implementation] of Object.entries(plans(tool))) {
      const run = () => verbs.execute({ implementation }, caller)
      const [row, answer] = await watched(`${what}, of a ${form}`, parse, run)
      const page = () => verbs.result({ run: answer.run, call: 1, path, offset: 1000, limit: 10 }, caller)
      const [read] = await watched(`${what}, a page of it`, parse, page)
      rows.push(row, read)
    }
  }
  await verbs.close()
  for (const step of after.reverse()) await step()
  if (process.argv.includes('--json')) return console.log(JSON.stringify(rows))
  console.log(`load ${readFileSync('/proc/loadavg', 'utf8').slice(0, 14)}`)
  for (const { name, worstMs, ms, parseMs } of rows) {
    const times = `${(worstMs / parseMs).toFixed(1)} × JSON.parse`
    console.log(`${name.padEnd(32)} blocks ${worstMs.toFixed(0).padStart(5)} ms, ${times}; ${ms.toFixed(0)} ms in all`)
  }
}

await main()
