/**
 * A small shop and its post as real MCP servers over stdio, for the tour: what they do, they also
 * write into a book of their own.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import * as z from 'zod/v4'

const book = process.argv[2]!
const orders = [
  { id: 1, customer: 'Ada', item: 'loom', amount: 120, late: true },
  { id: 2, customer: 'Grace', item: 'shuttle', amount: 15, late: false },
  { id: 3, customer: 'Edsger', item: 'thread', amount: 4, late: true },
]

function entries(): { did: string; order: number }[] {
  const text = existsSync(book) ? readFileSync(book, 'utf8') : ''
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

async function act(did: 'refund' | 'ship', order: number) {
  appendFileSync(book, `${JSON.stringify({ did, order })}\n`)
  await pause(400)
  return structured({
    order,
    did,
    times: entries().filter((entry) => entry.did === did && entry.order === order).length,
  })
}

const byOrder = z.object({ order: z.number().int().describe('the id of an order') })
const structured = (value: Record<string, unknown>) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(value) }],
  structuredContent: value,
})

function shop(): McpServer {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  const description = 'List the orders of the shop with customer, item, amount and whether they are late.'
  server.registerTool('list_orders', { description, annotations: { readOnlyHint: true } }, async () =>
    structured({ orders }),
  )
  server.registerTool(
    'refund',
    {
      description: 'Refund an order: gives the money back to the customer.',
      inputSchema: byOrder,
      annotations: { destructiveHint: true },
    },
    ({ order }) => act('refund', order),
  )
  return server
}

function post(): McpServer {
  const server = new McpServer({ name: 'post', version: '1.0.0' })
  const description = 'List what the post takes for a parcel of each item.'
  server.registerTool('list_rates', { description, annotations: { readOnlyHint: true } }, async () =>
    structured({ rates: { loom: 30, shuttle: 4, thread: 2 } }),
  )
  server.registerTool(
    'ship',
    {
      description: 'Ship an order: hands the parcel to the post.',
      inputSchema: byOrder,
      annotations: { destructiveHint: true },
    },
    ({ order }) => act('ship', order),
  )
  return server
}

serveStdio(process.argv[3] === 'post' ? post : shop)
