/** MCP over standard input and output, for a host that starts us: stdout carries nothing but the protocol. */
import { Writable } from 'node:stream'
import { StdioServerTransport, serveStdio as serveEras } from '@modelcontextprotocol/server/stdio'
import type { Catalog } from '#catalog'
import { inOneLine, limits } from '#model'
import { formKey, openForms } from './elicit.ts'
import { isListening } from './mcp.ts'
import { type Connected, connected } from './passthrough-door.ts'
import { callsIn, openRate, tooOftenReply } from './rate.ts'
import { createMcpServer } from './server.ts'
import type { Verbs } from './verbs.ts'

type Stdio = {
  /** Settled when the host has closed its end, or after close(). */
  closed: Promise<void>
  close(): Promise<void>
}

type Options = {
  verbs: Verbs
  version: string
  /** Where what outlives this process is kept. */
  home?: string
  /** How much the host may start in a minute. */
  executesPerMinute?: number
  /** One server whole, in place of the surface. */
  passthrough?: { name: string; catalog: Pick<Catalog, 'facts' | 'passage' | 'tool'> }
}

export async function serveStdio({
  verbs,
  version,
  home = '',
  executesPerMinute,
  passthrough,
}: Options): Promise<Stdio> {
  const forms = openForms(formKey(home))
  const executes = openRate(executesPerMinute ?? limits.httpExecutesPerMinuteDefault)
  let through: Connected | null = null
  const newServer = async () => {
    if (passthrough === undefined) return createMcpServer(verbs, version, forms)
    through = await connected({ verbs, forms, ...passthrough })
    return through.server
  }
  const transport = new StdioServerTransport(process.stdin, lines(process.stdout), {
    maxBufferSize: limits.stdioMessageBytesMax,
  })
  const connection = serveEras(newServer, {
    transport,
    onerror: (error) => process.stderr.write(`metier: stdio: ${error.message.slice(0, limits.previewCharactersMax)}\n`),
  })
  const deliver = transport.onmessage
  transport.onmessage = (message) => {
    const calls = callsIn(message)
    const seconds = calls === 0 ? 0 : executes.take('', calls)
    if (seconds > 0) return void transport.send(tooOftenReply(seconds, message)).catch(() => {})
    if (isListening(message)) through?.listened(message.params).catch(() => {})
    deliver?.(message)
  }
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const ended = transport.onclose
  transport.onclose = () => {
    ended?.()
    resolve()
  }
  return { closed, close: () => connection.close() }
}

/** One message is one line, however the host cuts lines. */
function lines(stdout: Writable): Writable {
  const write = (chunk: unknown, _: BufferEncoding, done: (error?: Error | null) => void) =>
    void stdout.write(inOneLine(String(chunk)), done)
  return new Writable({ decodeStrings: false, write })
}
