/**
 * Our catalogue as the client that the conformance suite tests: it connects to the address given
 * last and calls every tool that it finds.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCatalog } from '#catalog'
import { isObject, type Json, type JsonObject, parseConfig, type Tool } from '#model'

/** What the suite tells beside the address. */
type ScenarioInput = { toolCalls?: JsonObject[] } & Record<
  'client_id' | 'client_secret' | 'private_key_pem' | 'issuer',
  string | undefined
>

const url = process.argv.at(-1)!
const given = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || '{}') as ScenarioInput
const folder = mkdtempSync(join(tmpdir(), 'metier-conformance-'))
const text = JSON.stringify({ mcpServers: { suite: { type: 'http', url, oauth: oauthOf(given) } } })
const { servers } = parseConfig({ file: join(folder, 'metier.json'), text, home: folder, env: {}, directory: folder })
const catalog = openCatalog({
  servers,
  folder,
  keys: folder,
  baseEnv: {},
  log: (line) => console.error(line),
  authorize: { redirectUrl: 'http://127.0.0.1:7421/callback', ask: consent },
})

/** A person who says yes at once: the suite sends them straight back. */
async function consent(to: URL): Promise<URLSearchParams> {
  const response = await fetch(to, { redirect: 'manual' })
  await response.body?.cancel()
  return new URL(response.headers.get('location')!).searchParams
}

function oauthOf({
  client_id: clientId,
  client_secret: clientSecret,
  private_key_pem: privateKey,
  issuer,
}: ScenarioInput): object {
  if (clientId === undefined) return { clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' }
  const grant = issuer === undefined ? { grant: 'client_credentials' } : { issuer }
  return { clientId, ...(clientSecret && { clientSecret }), ...(privateKey && { privateKey }), ...grant }
}

/** For one that is asked: a host that takes what is proposed. */
const passage = catalog.passage('suite', {
  capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
  shared: false,
  heard: () => {},
})
const attendant = { passage, ask: async () => ({ action: 'accept', content: {} }) }

/**
 * What the suite wants called, where it says so; else every tool, with a value for each parameter.
 */
function callsOf(tools: Tool[]): { tool: Tool; args: Json }[] {
  const { toolCalls } = given
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
    const options = { signal: AbortSignal.timeout(20_000), timeoutMs: 20_000, attendant }
    const outcome = await catalog.try(tool, args, options)
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
