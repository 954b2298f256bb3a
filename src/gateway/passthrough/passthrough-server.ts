/**
 * One upstream server as the whole of what a host sees: whatever it offers is passed on, and every
 * tool call is a run of one call.
 */
import {
  type ClientCapabilities,
  LOG_LEVEL_META_KEY,
  Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { channelOfAttendant, type Forms, withElicitation } from '#gateway/elicitation'
import { callerOf, cancelSignal, handleToolsCall, type ProtocolEra, progressReporter } from '#gateway/mcp'
import type { JsonObject } from '#model'
import type { Attendant, ClientConversation, ServerNotification, Verbs } from '#verbs'
import type { InputExchanges } from './input-exchange.ts'
import { passthroughCall } from './passthrough-call.ts'

type PassthroughContext = {
  name: string
  verbs: Verbs
  /** The conversation for a client that can do this. */
  passage(capabilities: ClientCapabilities): ClientConversation
  exchanges: InputExchanges
  forms: Forms
}

type PassedRequest = { params?: JsonObject }

export async function createPassthroughServer(through: PassthroughContext, era: ProtocolEra): Promise<Server> {
  const { info, capabilities, instructions } = await through.verbs.passthrough.serverInfo(through.name)
  const offered = passedCapabilities(capabilities)
  const server = new Server(info, { capabilities: offered, ...(instructions !== undefined && { instructions }) })
  const handlers = new PassthroughHandlers(through, server)
  if (offered.tools) handlers.passTools(era)
  if (offered.prompts) handlers.pass(['prompts/list'], ['prompts/get'])
  if (offered.resources) handlers.pass(['resources/list', 'resources/templates/list'], ['resources/read'])
  if (offered.resources?.subscribe) handlers.passSubscriptions()
  if (offered.completions) handlers.pass(['completion/complete'], [])
  if (offered.logging) handlers.passLevel()
  server.setNotificationHandler('notifications/roots/list_changed', () => handlers.rootsChanged())
  return server
}

/** What we know how to pass on; the rest is not promised. */
function passedCapabilities(capabilities: ServerCapabilities): ServerCapabilities {
  const { tools, prompts, resources, completions, logging } = capabilities
  return {
    ...(tools && { tools }),
    ...(prompts && { prompts }),
    ...(resources && { resources }),
    ...(completions && { completions }),
    ...(logging && { logging }),
  }
}

/** What one server instance of ours, and so one session or one request, passes on. */
class PassthroughHandlers {
  readonly #through: PassthroughContext
  readonly #server: Server
  /** As the client of the legacy era has set it. */
  #level: string | undefined

  constructor(through: PassthroughContext, server: Server) {
    this.#through = through
    this.#server = server
  }

  /**
   * `plain` are passed on as they are; in the middle of `asking` ones the server may ask the client
   * something.
   */
  pass(plain: string[], asking: string[]): void {
    for (const method of plain) {
      this.#on(method, ({ params = {} }, context) =>
        this.#send(
          method,
          params,
          context,
          this.#attendant(() => context),
        ),
      )
    }
    for (const method of asking) {
      this.#on(method, ({ params = {} }, context) =>
        this.#through.exchanges.take(context, params, (asked, current) =>
          this.#send(method, params, context, { ...this.#attendant(current), ...asked }),
        ),
      )
    }
  }

  passTools(era: ProtocolEra): void {
    this.#on('tools/list', async ({ params = {} }, context) => {
      const { verbs, name } = this.#through
      const attendant = this.#attendant(() => context)
      const answer = await this.#send('tools/list', params, context, attendant)
      return Array.isArray(answer.tools)
        ? { ...answer, tools: verbs.passthrough.listForAgents(name, answer.tools) }
        : answer
    })
    handleToolsCall(this.#server, era, (params, context) =>
      this.#through.exchanges.take(context, params, async (asked, current) => {
        const attendant = { ...this.#attendant(current), ...asked, passage: this.#passage(context) }
        const caller = { ...callerOf(context, this.#server.getClientVersion()?.name, params), attendant }
        const { verbs, forms, name } = this.#through
        const gated = withElicitation(verbs, forms, channelOfAttendant(asked.ask, this.#abilities(context)))
        return (await passthroughCall({ verbs: gated, name }, params, caller)) as JsonObject
      }),
    )
  }

  passSubscriptions(): void {
    const uriOf = ({ params = {} }: PassedRequest) => String(params.uri)
    this.#on('resources/subscribe', async (request, context) => {
      await this.#passage(context).subscribe(uriOf(request), context.mcpReq.signal)
      return {}
    })
    this.#on('resources/unsubscribe', async (request, context) => {
      await this.#passage(context).unsubscribe(uriOf(request))
      return {}
    })
  }

  passLevel(): void {
    this.#on('logging/setLevel', async ({ params = {} }, context) => {
      this.#level = String(params.level)
      await this.#passage(context).setLevel(this.#level, context.mcpReq.signal)
      return {}
    })
  }

  async rootsChanged(): Promise<void> {
    const passage = this.#through.passage(this.#server.getClientCapabilities() ?? {})
    await passage.rootsChanged(AbortSignal.timeout(1000)).catch(() => {})
  }

  #on(method: string, handler: (request: PassedRequest, context: ServerContext) => Promise<JsonObject>): void {
    this.#server.setRequestHandler(method as 'ping', handler as never)
  }

  #send(method: string, params: JsonObject, context: ServerContext, attendant: Attendant): Promise<JsonObject> {
    const { _meta, ...rest } = params
    return this.#passage(context).request(method, rest, attendant, cancelSignal(context.mcpReq.signal))
  }

  #passage(context: ServerContext): ClientConversation {
    return this.#through.passage(this.#abilities(context))
  }

  #abilities({ mcpReq }: ServerContext): ClientCapabilities {
    const { 'io.modelcontextprotocol/clientCapabilities': said } = (mcpReq.envelope ?? {}) as Record<string, unknown>
    return (said ?? this.#server.getClientCapabilities() ?? {}) as ClientCapabilities
  }

  #attendant(current: () => ServerContext): Attendant {
    const { mcpReq } = current()
    const { progressToken: _, ...meta } = (mcpReq._meta ?? {}) as JsonObject
    const progress = progressReporter(current)
    const level = this.#levelOf(mcpReq.envelope)
    const heard = (notification: ServerNotification) =>
      void current()
        .mcpReq.notify(notification)
        .catch(() => {})
    return {
      meta: { ...meta, ...(level !== undefined && { [LOG_LEVEL_META_KEY]: level }) },
      heard: level === undefined ? () => {} : heard,
      ...(mcpReq.envelope !== undefined && level !== undefined && { level }),
      ...(progress && { progress }),
    }
  }

  /**
   * In the modern era only a client that asks for it gets the log; in the legacy era one that sets
   * no level gets the default.
   */
  #levelOf(envelope: object | undefined): string | undefined {
    if (envelope === undefined) return this.#level ?? 'info'
    const { [LOG_LEVEL_META_KEY]: level } = envelope as { [LOG_LEVEL_META_KEY]?: string }
    return level
  }
}
