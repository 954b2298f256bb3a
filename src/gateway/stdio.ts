/** MCP over standard input and output, for a host that starts us: stdout carries nothing but the protocol. */
import { serveStdio as serveEras } from '@modelcontextprotocol/server/stdio'
import { limits } from '#model'
import { formKey, openForms } from './elicit.ts'
import { HostWire } from './host-wire.ts'
import { isListening } from './mcp.ts'
import type { ProtocolEra } from './on-call.ts'
import { type Connected, connected, type Passable } from './passthrough-door.ts'
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
  passthrough?: { name: string; catalog: Passable }
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
  const newServer = async ({ era }: { era: ProtocolEra }) => {
    if (passthrough === undefined) return createMcpServer(verbs, version, forms, era)
    through = await connected({ verbs, forms, ...passthrough }, era)
    return through.server
  }
  const transport = new HostWire(process.stdin, process.stdout)
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
