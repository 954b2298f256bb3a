/**
 * Métier as the benches drive it: a home on disk, real boxes, and a tool behind the broker, in this
 * process or in a server of its own.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Catalog, openCatalog } from '#catalog'
import { type Json, type Plan, parseConfig, type RunId, type Tool, type Try } from '#model'
import { openStore, type Store } from '#record'
import { type Engine, loadEngine } from '#run'
import { type Boxes, openBoxes } from '#sandbox'
import { payload, steps } from './chain.ts'

const { openEngine } = await loadEngine()

export type Bench = { store: Store; boxes: Boxes; engine: Engine; close(): Promise<void> }

export const chainCode: Plan = {
  kind: 'code',
  code: `let n = 0; for (let i = 0; i < ${steps}; i++) n = (await mcp.w.step({ n })).n; return n`,
}

export const chainGraph: Plan = {
  kind: 'dag',
  tasks: Array.from({ length: steps }, (_, i) => ({
    id: `s${i}`,
    tool: 'w:step',
    arguments: { n: i === 0 ? 0 : { $from: `s${i - 1}`, path: '/n' } },
  })),
}

function toolOf(name: string, effect: Tool['effect']): Tool {
  const input = { type: 'object', properties: { n: { type: 'number' } } }
  const said = { description: 'Count one further', input, annotations: {}, digest: name }
  return { id: `w:${name}`, server: 'w', name, ...said, effect, effectFrom: 'configuration' }
}

const tools = [toolOf('step', 'unsafe'), toolOf('last', 'idempotent')]

/**
 * A step as the peers have it: a function of this process. Everything before and after it is what
 * every run goes through.
 */
export function inProcess(act: (args: Json, tool: string) => Promise<Json> | Json = count): Catalog {
  const none = openCatalog({ servers: {}, folder: tmpdir(), baseEnv: {} })
  return {
    ...none,
    tool: async (id) => tools.find((tool) => tool.id === id),
    problemOfServer: () => null,
    async try({ name }, args, { commit }): Promise<Try> {
      await commit?.()
      return { outcome: 'answered', ok: true, value: await act(args, name) }
    },
    digests: () => ({}),
  }
}

export function count(args: Json): Json {
  return { n: (args as { n: number }).n + 1, payload }
}

/** A configuration with the step as a server of its own. */
export const stepServer = JSON.stringify({
  mcpServers: {
    w: { command: process.execPath, args: [join(import.meta.dirname, 'step-server.ts')], concurrency: 64 },
  },
})

export function homeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'metier-bench-'))
}

export async function openBench(catalog: Catalog, home = homeFolder()): Promise<Bench> {
  const text = '{"policy":{"permissions":"privileged"}}'
  const config = parseConfig({ file: 'metier.json', text, home, env: {}, directory: home })
  const store = await openStore({ home })
  const boxes = openBoxes({ folder: join(home, 'sandbox') })
  const engine = openEngine({ store, boxes, catalog, config })
  const close = async () => {
    await engine.close()
    await Promise.all([boxes.close(), catalog.close()])
    await store.close()
    rmSync(home, { recursive: true, force: true })
  }
  return { store, boxes, engine, close }
}

export async function runToEnd({ engine }: Bench, plan: Plan, intent: string | null = null): Promise<RunId> {
  const { run, settled } = await engine.start({ plan, intent, args: {}, actor: { kind: 'cli', name: 'bench' } })
  const settlement = await settled
  if (settlement !== 'done') throw new Error(`run ${run} is ${settlement}`)
  return run
}
