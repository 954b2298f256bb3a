/**
 * MCP over standard input and output, for a host that starts us: stdout carries nothing but the
 * protocol.
 */
import { serveStdio as serveEras } from '@modelcontextprotocol/server/stdio'
import { openForms, readFormKey } from '#gateway/elicitation'
import { countStartingCalls, openRateLimit, tooManyRequestsReply } from '#gateway/http'
import { createSurfaceServer, isListenRequest, type ProtocolEra, StdioTransport, tellOfExposed } from '#gateway/mcp'
import { openPassthroughConnection, type PassthroughConnection } from '#gateway/passthrough'
import { limits } from '#model'
import type { Verbs } from '#verbs'

type StdioGateway = {
  /** Settled when the host has closed its end, or after close(). */
  closed: Promise<void>
  close(): Promise<void>
}

type StdioOptions = {
  verbs: Verbs
  version: string
  /** Where what outlives this process is kept. */
  home?: string
  /** How much the host may start in a minute. */
  executesPerMinute?: number
  /** One server whole, in place of the surface. */
  passthrough?: string
}

export async function serveStdio({
  verbs,
  version,
  home = '',
  executesPerMinute,
  passthrough,
}: StdioOptions): Promise<StdioGateway> {
  const forms = openForms(readFormKey(home))
  const executes = openRateLimit(executesPerMinute ?? limits.httpExecutesPerMinuteDefault)
  let passthroughConnection: PassthroughConnection | null = null
  const newServer = async ({ era }: { era: ProtocolEra }) => {
    if (passthrough === undefined) return tellOfExposed(createSurfaceServer(verbs, version, forms, era), era, verbs)
    passthroughConnection = await openPassthroughConnection({ verbs, forms, name: passthrough }, era)
    return passthroughConnection.server
  }
  const transport = new StdioTransport(process.stdin, process.stdout)
  const connection = serveEras(newServer, {
    transport,
    onerror: (error) => process.stderr.write(`metier: stdio: ${error.message.slice(0, limits.previewCharactersMax)}\n`),
  })
  const deliver = transport.onmessage
  transport.onmessage = (message) => {
    const calls = countStartingCalls(message)
    const seconds = calls === 0 ? 0 : executes.take('', calls)
    if (seconds > 0) return void transport.send(tooManyRequestsReply(seconds, message)).catch(() => {})
    if (isListenRequest(message)) passthroughConnection?.listened(message.params).catch(() => {})
    deliver?.(message)
  }
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const notifyClosed = transport.onclose
  transport.onclose = () => {
    notifyClosed?.()
    resolve()
  }
  return { closed, close: () => connection.close() }
}
