/**
 * What the tests of the gateway share: a gateway over the stand-in, real clients of both eras, and
 * raw requests.
 */
import { request as httpRequest, type OutgoingHttpHeaders } from 'node:http'
import type { TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type HttpGateway, serveHttp } from '#gateway'
import { type StandIn, standIn } from './stand-in.ts'

export const eras = { legacy: { mode: 'legacy' }, modern: { mode: { pin: '2026-07-28' } } } as const
export type Era = keyof typeof eras

export type OpenGateway = HttpGateway & { verbs: StandIn; lines: string[] }

export async function openGateway(t: TestContext): Promise<OpenGateway> {
  const verbs = standIn()
  const lines: string[] = []
  const gateway = await serveHttp({
    verbs,
    host: '127.0.0.1',
    port: 0,
    version: '1.2.3',
    log: (line) => lines.push(line),
  })
  t.after(() => gateway.close())
  return { ...gateway, verbs, lines }
}

export function newClient(era: Era): Client {
  return new Client({ name: 'tester', version: '1' }, { versionNegotiation: eras[era] })
}

export async function connect(t: TestContext, { url }: HttpGateway, era: Era): Promise<Client> {
  const client = newClient(era)
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)))
  t.after(() => client.close())
  return client
}

type Sent = { method?: string; headers?: OutgoingHttpHeaders; body?: string }
type Answer = { status: number; headers: NodeJS.Dict<string | string[]>; text: string }

/** A request with exactly these headers, as fetch would not send it. */
export function send(url: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }))
    })
    request.on('error', reject).end(body)
  })
}

/** The answer to one JSON-RPC message of the legacy era, with the session it belongs to. */
export async function post(url: string, message: object, session?: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
      ...(session && { 'mcp-session-id': session }),
      ...headers,
    },
  })
  const text = await response.text()
  const data = text.split('\n').find((line) => line.startsWith('data: '))
  const answer = JSON.parse(data?.slice('data: '.length) ?? (text || 'null'))
  return { status: response.status, session: response.headers.get('mcp-session-id'), answer }
}

export const initialize = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}

/** Waits until something holds; a test's own time limit ends the waiting. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}
