/** Our catalogue as the client that the conformance suite tests: it connects to the address given last and calls every tool that it finds. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCatalog } from '#catalog'
import { isObject, type Json, type JsonObject, parseConfig, type Tool } from '#model'

const url = process.argv.at(-1)!
const folder = mkdtempSync(join(tmpdir(), 'metier-conformance-'))
const text = JSON.stringify({ mcpServers: { suite: { type: 'http', url } } })
const { servers } = parseConfig({ file: join(folder, 'metier.json'), text, home: folder, env: {}, directory: folder })
const catalog = openCatalog({ servers, folder, baseEnv: {}, log: (line) => console.error(line) })

/** What the suite wants called, where it says so; else every tool, with a value for each parameter. */
function callsOf(tools: Tool[]): { tool: Tool; args: Json }[] {
  const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || '{}') as { toolCalls?: JsonObject[] }
  if (toolCalls === undefined) return tools.map((tool) => ({ tool, args: argumentsFor(tool, tools) }))
  return toolCalls.flatMap(({ name, arguments: args = {} }) =>
    tools.filter((tool) => tool.name === name).map((tool) => ({ tool, args })),
  )
}

/** Such as the types allow; a schema that is asked for is that of another tool, as we know it. */
function argumentsFor(tool: Tool, tools: Tool[]): Json {
  const samples: Record<string, Json> = { number: 3, integer: 3, boolean: true, array: [], object: {} }
  const schema = tools.find((other) => other !== tool)?.input ?? {}
  const sample = (name: string, type: unknown): Json => (name === 'schema' ? schema : (samples[String(type)] ?? 'x'))
  const properties = Object.entries((tool.input.properties ?? {}) as JsonObject)
  return Object.fromEntries(properties.map(([name, of]) => [name, sample(name, isObject(of) ? of.type : null)]))
}

/** A call whose outcome is unknown is made again: these tools do no harm. */
async function call(tool: Tool, args: Json): Promise<void> {
  for (let tries = 1; tries <= 3; tries++) {
    const outcome = await catalog.try(tool, args, { signal: AbortSignal.timeout(20_000), timeoutMs: 20_000 })
    console.error(`${tool.id}: ${JSON.stringify(outcome)}`)
    if (outcome.outcome === 'answered') return
  }
}

try {
  const { tools, problems } = await catalog.tools()
  for (const { server, error } of problems) console.error(`${server}: ${error}`)
  for (const { tool, args } of callsOf(tools)) await call(tool, args)
  process.exitCode = problems.length
} finally {
  await catalog.close()
  rmSync(folder, { recursive: true, force: true })
}
