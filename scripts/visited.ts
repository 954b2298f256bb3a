/**
 * Measures how many files and functions of src/ one execute visits: from the request to a gateway
 * over HTTP until its answer, by the coverage that V8 counts.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { serveHttp } from '#gateway'
import { parseConfig } from '#model'
import { openVerbs } from '#verbs'

const folder = mkdtempSync(join(tmpdir(), 'visited-'))
const server = fileURLToPath(new URL('test/servers/effects.ts', import.meta.resolve('#package')))
const fx = { command: process.execPath, args: [server], env: { EFFECTS: join(folder, 'effects.jsonl') } }
const text = JSON.stringify({ mcpServers: { fx } })
const config = parseConfig({ file: null, text, home: join(folder, 'home'), env: process.env, directory: folder })
const verbs = await openVerbs(config, { path: process.env.PATH! })
const door = await serveHttp({ verbs, host: '127.0.0.1', port: 0, version: '0', log: () => {} })
const client = new Client({ name: 'visited', version: '0' })
await client.connect(new StreamableHTTPClientTransport(new URL(`${door.url}/mcp`)))

const code = `return Promise.all([mcp.fx.read({ key: 'a' }), mcp.fx.add({ key: 'b', by: 1 })])`
const execute = () =>
  client.callTool({ name: 'execute', arguments: { implementation: { type: 'code', code } } }).then(JSON.stringify)

await execute()
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await session.post('Profiler.takePreciseCoverage')
const answer = await execute()
const { result } = await session.post('Profiler.takePreciseCoverage')
const visited = result
  .filter(({ url }) => url.includes('/src/'))
  .map(({ functions }) => functions.filter(({ functionName, ranges }) => functionName && ranges[0]!.count > 0))
  .filter((functions) => functions.length > 0)
const functions = visited.flat().length
process.stdout.write(`${answer.includes('approval_required')} ${visited.length} files, ${functions} named functions\n`)
await client.close()
await door.close()
await verbs.close()
rmSync(folder, { recursive: true, force: true })
process.exit(0)
