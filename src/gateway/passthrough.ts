/** One upstream server as the whole of what a host sees: whatever it offers is passed on, and every tool call is a run of one call. */
import {
  type ClientCapabilities,
  LOG_LEVEL_META_KEY,
  Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Attendant, Catalog, Heard, Passage } from '#catalog'
import type { JsonObject } from '#model'
import { callerOf, cancelSignal } from './caller.ts'
import { askerBy, asking, type Forms } from './elicit.ts'
import type { Exchanges } from './exchange.ts'
import { onCall, type ProtocolEra } from './on-call.ts'
import { passCall } from './passthrough-call.ts'
import { progressOf } from './progress.ts'
import type { Verbs } from './verbs.ts'

export type Through = {
  name: string
  verbs: Verbs
  catalog: Pick<Catalog, 'facts' | 'toldList'>
  /** The conversation for a client that can do this. */
  passage(capabilities: ClientCapabilities): Passage
  exchanges: Exchanges
  forms: Forms
}

type Handled = { params?: JsonObject }

export async function createPassthroughServer(through: Through, era: ProtocolEra): Promise<Server> {
  const { info, capabilities, instructions } = await through.catalog.facts(through.name)
  const offered = passable(capabilities)
  const server = new Server(info, { capabilities: offered, ...(instructions !== undefined && { instructions }) })
  const door = new Door(through, server)
  if (offered.tools) door.passTools(era)
  if (offered.prompts) door.pass(['prompts/list'], ['prompts/get'])
  if (offered.resources) door.pass(['resources/list', 'resources/templates/list'], ['resources/read'])
  if (offered.resources?.subscribe) door.passSubscriptions()
  if (offered.completions) door.pass(['completion/complete'], [])
  if (offered.logging) door.passLevel()
  server.setNotificationHandler('notifications/roots/list_changed', () => door.rootsChanged())
  return server
}

/** What we know how to pass on; the rest is not promised. */
function passable(capabilities: ServerCapabilities): ServerCapabilities {
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
class Door {
  readonly #through: Through
  readonly #server: Server
  /** As the client of the older era has set it. */
  #level: string | undefined

  constructor(through: Through, server: Server) {
    this.#through = through
    this.#server = server
  }

  /** `plain` are passed on as they are; in the middle of `asking` ones the server may ask the client something. */
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
      const { catalog, name } = this.#through
      const attendant = this.#attendant(() => context)
      const answer = await this.#send('tools/list', params, context, attendant)
      return Array.isArray(answer.tools) ? { ...answer, tools: catalog.toldList(name, answer.tools) } : answer
    })
    onCall(this.#server, era, (params, context) =>
      this.#through.exchanges.take(context, params, async (asked, current) => {
        const attendant = { ...this.#attendant(current), ...asked, passage: this.#passage(context) }
        const caller = { ...callerOf(context, this.#server.getClientVersion()?.name, params), attendant }
        const { verbs, forms, name } = this.#through
        const gated = asking(verbs, forms, askerBy(asked.ask, this.#abilities(context)))
        return (await passCall({ verbs: gated, name }, params, caller)) as JsonObject
      }),
    )
  }

  passSubscriptions(): void {
    const uriOf = ({ params = {} }: Handled) => String(params.uri)
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

  #on(method: string, handler: (request: Handled, context: ServerContext) => Promise<JsonObject>): void {
    this.#server.setRequestHandler(method as 'ping', handler as never)
  }

  #send(method: string, params: JsonObject, context: ServerContext, attendant: Attendant): Promise<JsonObject> {
    const { _meta, ...rest } = params
    return this.#passage(context).request(method, rest, attendant, cancelSignal(context.mcpReq.signal))
  }

  #passage(context: ServerContext): Passage {
    return this.#through.passage(this.#abilities(context))
  }

  #abilities({ mcpReq }: ServerContext): ClientCapabilities {
    const { 'io.modelcontextprotocol/clientCapabilities': said } = (mcpReq.envelope ?? {}) as Record<string, unknown>
    return (said ?? this.#server.getClientCapabilities() ?? {}) as ClientCapabilities
  }

  #attendant(current: () => ServerContext): Attendant {
    const { mcpReq } = current()
    const { progressToken: _, ...meta } = (mcpReq._meta ?? {}) as JsonObject
    const progress = progressOf(current)
    const level = this.#levelOf(mcpReq.envelope)
    const heard = (notification: Heard) =>
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

  /** In the newer era only who asks for it hears of the log; in the older one whoever says nothing hears something. */
  #levelOf(envelope: object | undefined): string | undefined {
    if (envelope === undefined) return this.#level ?? 'info'
    const { [LOG_LEVEL_META_KEY]: level } = envelope as { [LOG_LEVEL_META_KEY]?: string }
    return level
  }
}
