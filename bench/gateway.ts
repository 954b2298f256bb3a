/**
 * What the gateway costs a call, durable record included: the same tool through it, from a direct
 * client, and through what only syncs twice, by turns.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const root = dirname(import.meta.dirname)
const server = join(root, 'test', 'servers', 'effects.ts')
const rounds = 500
const warmUp = 100
const toolMs = 10
const bar = 1.15

type Way = { name: string; call(ms: number): Promise<unknown> }

const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
const clients: Client[] = []

async function connect(command: string, args: string[], env: Record<string, string>): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command, args, env, stderr: 'ignore' }))
  clients.push(client)
  return client
}

/** A gateway with a record of its own. */
function gateway(name: string, args: string[]): Promise<Client> {
  const file = join(folder, `${name}.json`)
  const fx = { command: process.execPath, args: [server], env: {} }
  const config = { mcpServers: { fx }, expose: ['fx:wait'], policy: { permissions: 'privileged' } }
  writeFileSync(file, JSON.stringify(config))
  const env = { PATH: process.env.PATH!, METIER_HOME: join(folder, name), METIER_CONFIG: file }
  return connect(join(root, 'bin', 'metier'), ['serve', '--stdio', ...args], env)
}

async function ways(): Promise<Way[]> {
  const path = { PATH: process.env.PATH! }
  const between = (name: string) => [join(root, 'bench', 'gateway', `${name}.ts`), join(folder, name), server]
  const [direct, pipe, bare, surface, through] = await Promise.all([
    connect(process.execPath, [server], path),
    connect(process.execPath, between('pipe'), path),
    connect(process.execPath, between('proxy'), path),
    gateway('surface', []),
    gateway('through', ['--passthrough', 'fx']),
  ])
  const code = 'return await mcp.fx.wait({ ms: args.ms })'
  const execute = (ms: number) => ({ implementation: { type: 'code', code }, args: { ms } })
  return [
    { name: 'direct', call: (ms) => direct.callTool({ name: 'wait', arguments: { ms } }) },
    { name: 'pipe', call: (ms) => pipe.callTool({ name: 'wait', arguments: { ms } }) },
    { name: 'bare proxy', call: (ms) => bare.callTool({ name: 'wait', arguments: { ms } }) },
    { name: 'passed through', call: (ms) => through.callTool({ name: 'wait', arguments: { ms } }) },
    { name: 'exposed', call: (ms) => surface.callTool({ name: 'fx__wait', arguments: { ms } }) },
    { name: 'execute', call: (ms) => surface.callTool({ name: 'execute', arguments: execute(ms) }) },
  ]
}

/** Each way once in every round, so that whatever else the machine does meets all of them. */
async function measure(all: Way[], ms: number): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(all.map(({ name }) => [name, []]))
  for (let round = -warmUp; round < rounds; round++) {
    for (const { name, call } of all) {
      const began = performance.now()
      const result = (await call(ms)) as { isError?: boolean }
      if (result.isError) throw new Error(`the call failed: ${JSON.stringify(result)}`)
      if (round >= 0) times.get(name)!.push(performance.now() - began)
    }
  }
  return times
}

function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]!
}

try {
  const all = await ways()
  const slow = await measure(all, toolMs)
  const bare = await measure(all, 0)
  const figures = all.map(({ name }) => {
    const of = (times: Map<string, number[]>, share: number) => quantile(times.get(name)!, share)
    const base = (times: Map<string, number[]>, share: number) => quantile(times.get('direct')!, share)
    return {
      name,
      p50Ms: of(slow, 0.5),
      p99Ms: of(slow, 0.99),
      ratioP50: of(slow, 0.5) / base(slow, 0.5),
      ratioP99: of(slow, 0.99) / base(slow, 0.99),
      overheadUs: (of(bare, 0.5) - base(bare, 0.5)) * 1000,
    }
  })
  if (process.argv.includes('--json')) console.log(JSON.stringify({ toolMs, rounds, bar, figures }))
  else {
    console.log(`a tool of ${toolMs} ms over stdio, ${rounds} rounds, bar ${bar} × at p50 and p99`)
    console.log(
      'the pipe copies bytes and syncs a page before and after; the bare proxy does so with the SDK on both sides',
    )
    for (const { name, p50Ms, p99Ms, ratioP50, ratioP99, overheadUs } of figures) {
      const ratios = `${ratioP50.toFixed(3)} × / ${ratioP99.toFixed(3)} ×`
      const times = `p50 ${p50Ms.toFixed(2)} ms, p99 ${p99Ms.toFixed(2)} ms`
      const verdict = ratioP50 <= bar && ratioP99 <= bar ? 'ok' : 'MISSED'
      console.log(
        `${verdict.padEnd(7)}${name.padEnd(15)} ${times}  ${ratios}  bare overhead ${overheadUs.toFixed(0)} µs`,
      )
    }
  }
} finally {
  await Promise.all(clients.map((client) => client.close()))
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
