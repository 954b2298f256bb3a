/** A small shop as a real MCP server over stdio, for the tour: what it does, it also writes into a book of its own. */
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
  const result = { order, did, times: entries().filter((entry) => entry.did === did && entry.order === order).length }
  return { content: [{ type: 'text' as const, text: JSON.stringify(result) }], structuredContent: result }
}

function shop(): McpServer {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  const byOrder = z.object({ order: z.number().int().describe('the id of an order') })
  server.registerTool(
    'list_orders',
    {
      description: 'List the orders of the shop with customer, item, amount and whether they are late.',
      annotations: { readOnlyHint: true },
    },
    async () => ({ content: [{ type: 'text', text: JSON.stringify(orders) }], structuredContent: { orders } }),
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

serveStdio(shop)
