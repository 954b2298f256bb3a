/** MCP over standard input and output, for a host that starts us: stdout carries nothing but the protocol. */
import { StdioServerTransport, serveStdio as serveEras } from '@modelcontextprotocol/server/stdio'
import { limits } from '#model'
import { formKey, openForms } from './elicit.ts'
import { createMcpServer } from './server.ts'
import type { Verbs } from './verbs.ts'

/** In `home` is kept what outlives this process. */
type Options = { verbs: Verbs; version: string; home?: string }

type Stdio = {
  /** Settled when the host has closed its end, or after close(). */
  closed: Promise<void>
  close(): Promise<void>
}

export async function serveStdio({ verbs, version, home = '' }: Options): Promise<Stdio> {
  const transport = new StdioServerTransport(process.stdin, process.stdout, {
    maxBufferSize: limits.stdioMessageBytesMax,
  })
  const forms = openForms(formKey(home))
  const connection = serveEras(() => createMcpServer(verbs, version, forms), {
    transport,
    onerror: (error) => process.stderr.write(`metier: stdio: ${error.message.slice(0, limits.previewCharactersMax)}\n`),
  })
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const ended = transport.onclose
  transport.onclose = () => {
    ended?.()
    resolve()
  }
  return { closed, close: () => connection.close() }
}
