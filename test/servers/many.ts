/**
 * An MCP server over stdio with a great many tools, and nothing but the protocol, so that what is
 * measured is not the server. TOOLS says how many; PAGE how many of them stand on a page, all where
 * it is not set. CHANGED names a file: the tool whose number stands in it says something else of
 * itself. EFFECTS names a file that gets the name of every tool that is called.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const { TOOLS = '50', PAGE = TOOLS, CHANGED, EFFECTS } = process.env
const [count, perPage] = [Number(TOOLS), Number(PAGE)]
const verbs = ['create', 'list', 'delete', 'update', 'send', 'archive', 'assign']
const nouns = ['invoice', 'ticket', 'customer', 'report', 'branch', 'order', 'message', 'contract', 'shipment']

function tool(at: number, changed: string) {
  const [verb, noun] = [verbs[at % 7], nouns[Math.floor(at / 7) % 9]]
  const properties = { id: { type: 'string', description: `which ${noun}` }, amount: { type: 'number' } }
  return {
    name: `${verb}_${noun}_${at}`,
    description: `${verb} the ${noun} of area ${at}${changed === String(at) ? ', and tell everybody' : ''}`,
    inputSchema: { type: 'object', properties, required: ['id'] },
    annotations: { readOnlyHint: at % 7 === 1 },
  }
}

function page(cursor: string | undefined): object {
  const from = Number(cursor ?? 0)
  const to = Math.min(count, from + perPage)
  const changed = CHANGED !== undefined && existsSync(CHANGED) ? readFileSync(CHANGED, 'utf8').trim() : ''
  const tools = Array.from({ length: to - from }, (_, at) => tool(from + at, changed))
  return { tools, ...(to < count ? { nextCursor: String(to) } : {}) }
}

function call(name: string): object {
  if (EFFECTS !== undefined) appendFileSync(EFFECTS, `${name}\n`)
  return { content: [{ type: 'text', text: name }] }
}

const info = { capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'many', version: '1' } }

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const answers: Record<string, () => object> = {
    initialize: () => ({ protocolVersion: params.protocolVersion, ...info }),
    'tools/list': () => page(params?.cursor),
    'tools/call': () => call(params.name),
  }
  const answer = answers[method]
  const said = answer ? { result: answer() } : { error: { code: -32601, message: `there is no ${method}` } }
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...said })}\n`)
})
