/**
 * discover as a host calls it: an MCP client, over HTTP, at a real gateway with default settings
 * and the given servers.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { serveHttp } from '#gateway'
import { parseConfig } from '#model'
import { openVerbs } from '#verbs'
import { type Item, listed } from './sets.ts'

type Result = { id: string; score: number; brief?: boolean }
export type Answer = { status: 'found' | 'unsure' | 'nothing_fits'; results: Result[]; silent?: string[] }
export type Door = { discover(intent: string): Promise<{ answer: Answer; bytes: number }>; close(): Promise<void> }

export async function openDoor(serversIn: (folder: string) => object): Promise<Door> {
  const folder = mkdtempSync(join(tmpdir(), 'metier-bench-'))
  const text = JSON.stringify({ mcpServers: serversIn(folder) })
  const config = parseConfig({ file: join(folder, 'metier.json'), text, home: folder, env: {}, directory: folder })
  const verbs = await openVerbs(config, { path: process.env.PATH! })
  const door = await serveHttp({ verbs, host: '127.0.0.1', port: 0, version: '0', log: () => {} })
  const client = new Client({ name: 'bench', version: '0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${door.url}/mcp`)))
  return {
    async discover(intent) {
      const { structuredContent, content } = await client.callTool({ name: 'discover', arguments: { intent } })
      const answer = structuredContent as Answer
      if (answer.results === undefined || answer.silent !== undefined)
        throw new Error(`Cannot measure: ${JSON.stringify(structuredContent).slice(0, 300)}`)
      return { answer, bytes: Buffer.byteLength((content as { text: string }[])[0]!.text) }
    },
    async close() {
      await client.close()
      await door.close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/**
 * A catalogue of these tools, asked by what they are called in the set; names that MCP does not
 * allow or that are there twice are made new.
 */
export async function openCatalogue(items: readonly Item[]): Promise<Door> {
  const byName = new Map<string, string>()
  const tools = items.map((item) => {
    const plain = item.name.replace(/[^\w.-]+/g, '_').slice(0, 100) || 'tool'
    let name = plain
    for (let copy = 2; byName.has(name); copy++) name = `${plain}_${copy}`
    byName.set(name, item.id)
    return listed(item, name)
  })
  const door = await openDoor((folder) => {
    const file = join(folder, 'tools.json')
    writeFileSync(file, JSON.stringify(tools))
    return { bench: { command: process.execPath, args: [join(import.meta.dirname, 'tools-server.ts'), file] } }
  })
  return {
    ...door,
    async discover(intent) {
      const { answer, bytes } = await door.discover(intent)
      const results = answer.results.map((result) => ({ ...result, id: byName.get(result.id.slice('bench:'.length))! }))
      return { answer: { ...answer, results }, bytes }
    },
  }
}
