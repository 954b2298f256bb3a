/**
 * Opens the conversation with a server in whichever protocol era it speaks, and asks what tools it
 * has.
 */
import {
  Client,
  type PriorDiscovery,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Tool as ToolDefinition,
} from '@modelcontextprotocol/client'
import type { Oauth } from '#catalog/oauth'
import type { ServerReaper } from '#catalog/processes'
import { redact } from '#catalog/tool-server'
import { HttpWire, SseWire, StdioWire } from '#catalog/wire'
import { AppError, limits, type ServerConfig, type ServerSandbox } from '#model'
import type { ServerBox } from '#sandbox'
import { boundLists, isInvalidResult, isTooLong, type Listing, listTools } from './list-tools.ts'
import { isTimeout } from './outcome.ts'
import { listenFor, listsOf, type Peer } from './peer.ts'

export type { ToolDefinition }
export type Era = PriorDiscovery
export type Wire = StdioWire | HttpWire | SseWire
export type Connection = { client: Client; wire: Wire; era: Era; listing: Listing }

export type ConnectOptions = {
  guard: ServerReaper
  baseEnv: { PATH?: string; HOME?: string }
  /** Null where the configuration says with what right we come. */
  oauth: Oauth | null
  /** Values that an error must not tell on, whatever the server wrote. */
  secrets: readonly string[]
  /** The server says what its tools are; resolves when that is on the record. */
  changed: (listing: Listing) => Promise<void>
  /** Opens the box that a server's configuration wants. */
  box: (asked: AskedBox) => Promise<ServerBox>
  /** How long opening the conversation may take. */
  startMsMax: () => number
  /** The client that the conversation belongs to, where it is not shared. */
  peer?: Peer
}

/** What is boxed: the command as it would be started without. */
type AskedBox = Extract<ServerConfig, { type: 'stdio' }> & { sandbox: ServerSandbox; signal: AbortSignal }

/**
 * One way to open the conversation: as we remember it, by asking first, in the old manner, or in
 * the oldest.
 */
type Handshake = {
  prior?: Era
  mode: 'legacy' | 'auto'
  overSse?: true
  /** Whether another manner may help where this one failed so. */
  goesOn(error: unknown): boolean
}

export async function connect(
  name: string,
  config: ServerConfig,
  surroundings: ConnectOptions,
  remembered: Era | null,
  stop: AbortSignal,
): Promise<Connection> {
  const startMsMax = surroundings.startMsMax()
  const signal = AbortSignal.any([stop, AbortSignal.timeout(startMsMax)])
  const whom = { name, config, secrets: surroundings.secrets }
  let before: AppError | null = null
  for (const manner of handshakesFor(config, remembered)) {
    const wire = openWire(config, surroundings, manner)
    let isOpen = false
    const opened = () => {
      isOpen = true
    }
    try {
      return await handshake(wire, manner, surroundings, { signal, timeout: startMsMax }, opened)
    } catch (error) {
      await wire.close()
      const late = signal.aborted && !stop.aborted
      if (late) throw unreachable(whom, wire, tooLate(startMsMax))
      // Where even HTTP with SSE does not help, what was said before tells more.
      const problem: AppError = manner.overSse && before !== null ? before : unreachable(whom, wire, error)
      if (isOpen || !manner.goesOn(error)) throw problem
      before = problem
    }
  }
  throw new Error('the last manner never goes on')
}

function tooLate(ms: number): SdkError {
  return new SdkError(SdkErrorCode.RequestTimeout, `it did not open within ${ms} ms`)
}

/**
 * Over a pipe asking first may cost a server that dies of the question, so the old manner, which
 * nearly all speak, comes first.
 */
function handshakesFor(config: ServerConfig, remembered: Era | null): Handshake[] {
  const never = () => false
  const oldest: Handshake = { mode: 'legacy', overSse: true, goesOn: never }
  if (config.type === 'sse') return [oldest]
  const manners: Handshake[] =
    config.type === 'stdio'
      ? [
          { mode: 'legacy', goesOn: speaksOtherwise },
          { mode: 'auto', goesOn: never },
        ]
      : [{ mode: 'auto', goesOn: isNotThere }, oldest]
  if (remembered?.kind !== 'modern') return manners
  const goesOn = (error: unknown) => speaksOtherwise(error) || isNotThere(error)
  return [{ prior: remembered, mode: 'auto', goesOn }, ...manners]
}

/** The server answered, but not in this manner. */
function speaksOtherwise(error: unknown): boolean {
  return (
    error instanceof ProtocolError || (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed)
  )
}

/** Nothing can be posted to this address. */
function isNotThere(error: unknown): boolean {
  return causesOf(error).some((cause) => cause instanceof SdkHttpError && [400, 404, 405].includes(cause.status ?? 0))
}

function openWire(config: ServerConfig, { guard, baseEnv, oauth, box }: ConnectOptions, { overSse }: Handshake): Wire {
  if (config.type === 'stdio') {
    const env = { ...definedOf(baseEnv), ...config.env }
    const { sandbox } = config
    const put = sandbox && box && ((signal: AbortSignal) => box({ ...config, sandbox, env, signal }))
    return new StdioWire({ ...config, env, guard, ...(put && { box: put }) })
  }
  const { url, headers } = config
  const request = oauth?.fetch ?? fetch
  return overSse ? new SseWire(url, headers, request) : new HttpWire(url, headers, request)
}

function definedOf(env: { PATH?: string; HOME?: string }): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined))
}

async function handshake(
  wire: Wire,
  { prior, mode }: Handshake,
  { changed, peer }: ConnectOptions,
  options: { signal: AbortSignal; timeout: number },
  opened: () => void,
): Promise<Connection> {
  const toolsChanged = async () => {
    await changed(await listTools(client))
    peer?.heard({ method: 'notifications/tools/list_changed' })
  }
  const client = new Client(
    { name: 'metier', version: '0.1.0' },
    {
      versionNegotiation: { mode },
      capabilities: peer?.capabilities ?? {},
      // A question in the middle of a request goes to the client that made it; without one, it is
      // an error of that request.
      inputRequired: { autoFulfill: false },
      listMaxPages: limits.catalogPagesMax,
      listChanged: {
        // What cannot be asked for now is asked for when the server is started next.
        tools: {
          autoRefresh: false,
          debounceMs: limits.listChangedMs,
          onChanged: () => void toolsChanged().catch(() => {}),
        },
        ...(peer && listsOf(peer)),
      },
    },
  )
  boundLists(client)
  if (peer) listenFor(peer, client)
  await client.connect(wire, prior === undefined ? options : { ...options, prior })
  // What we remember may not be true any more: then the first request tells.
  if (prior !== undefined) hearChanges(client, peer !== undefined)
  else opened()
  const listing = await listTools(client, options.signal)
  const discover = client.getDiscoverResult()
  const modern = client.getProtocolEra() === 'modern' && discover !== undefined
  return { client, wire, era: modern ? { kind: 'modern', discover } : { kind: 'legacy' }, listing }
}

/**
 * With an era that we remember, the client does not subscribe to the changes of lists by itself.
 */
function hearChanges(client: Client, forPeer: boolean): void {
  const { tools, prompts, resources } = client.getServerCapabilities() ?? {}
  const filter = {
    ...(tools?.listChanged && { toolsListChanged: true }),
    ...(forPeer && prompts?.listChanged && { promptsListChanged: true }),
    ...(forPeer && resources?.listChanged && { resourcesListChanged: true }),
  }
  // A server that does not let itself be listened to is no worse than one that never says that it
  // changed.
  if (Object.keys(filter).length > 0) client.listen(filter).catch(() => {})
}

type Whom = { name: string; config: ServerConfig; secrets: readonly string[] }

/** Says what is known: the server's own last words, or what the network said. */
export function unreachable({ name, config, secrets }: Whom, wire: Wire | null, error: unknown): AppError {
  const known = causesOf(error).find((cause) => cause instanceof AppError)
  if (known !== undefined) return known
  const words = redact(wire instanceof StdioWire ? wire.stderr : '', secrets)
  // We have ended it where it spoke, but not well or not in time.
  const end = wire instanceof StdioWire && !spokeOrSlept(error) ? wire.end : null
  const reason = redact(end ?? reasonOf(error), secrets).slice(0, limits.upstreamReasonCharactersMax)
  const where = config.type === 'stdio' ? 'its command, arguments and environment' : 'its address and headers'
  const tail =
    words === '' || end?.endsWith('was not found')
      ? ''
      : `; it wrote: ${words.slice(-limits.upstreamReasonCharactersMax)}`
  const missing = [...new Set(unsetIn(config))]
  const unset = missing.length === 0 ? '' : `; not set: ${missing.join(', ')}`
  const cause = secrets.length === 0 ? error : new Error(redact(reasonOf(error), secrets))
  return new AppError(
    'UPSTREAM_UNREACHABLE',
    `Cannot reach the server "${name}": ${reason}${tail}${unset}. Check ${where} with "metier doctor"`,
    { server: name },
    cause,
  )
}

function spokeOrSlept(error: unknown): boolean {
  return error instanceof ProtocolError || isInvalidResult(error) || isTooLong(error) || isTimeout(error)
}

/** Variables that are named and not set: their placeholders are still in the text. */
function unsetIn(config: ServerConfig): string[] {
  const named = JSON.stringify(config).matchAll(/\$\{(?:env:)?([A-Za-z_]\w*)\}/g)
  return [...named].map(([, name]) => name!)
}

/** The innermost cause is the one that says something. */
function reasonOf(error: unknown): string {
  const inner = causesOf(error).at(-1)
  if (inner instanceof SdkHttpError) {
    const body = inner.message.replace(/^Error POSTing to endpoint: ?/, '')
    return `it answered with ${inner.status} ${inner.statusText ?? ''}`.trimEnd() + (body === '' ? '' : `: ${body}`)
  }
  const said = inner instanceof Error ? inner.message || String((inner as NodeJS.ErrnoException).code) : String(inner)
  return said.replaceAll(/\s+/g, ' ')
}

function causesOf(error: unknown): unknown[] {
  const causes = [error]
  while (causes.length < 8) {
    const last = causes.at(-1)
    if (!(last instanceof Error && last.cause instanceof Error)) break
    causes.push(last.cause)
  }
  return causes
}
