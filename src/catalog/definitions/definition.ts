/**
 * What a server says of a tool becomes a Tool: its effect class with where that came from, and a
 * digest that pins it.
 */
import type { ToolDefinition } from '#catalog/mcp'
import {
  type Effect,
  isObject,
  isSecretName,
  type JsonObject,
  limits,
  redactedSecret,
  type ServerConfig,
  sha256,
  type Tool,
} from '#model'

/**
 * Without what is not to be seen, or turns or ends a line: a name stands in questions to humans,
 * and must not forge them.
 */
const readable = /^[^\p{C}\p{Zl}\p{Zp}]+$/u
/** Nearly every name is of these, which are told much faster. */
const plain = /^[\w.:/-]+$/

export function isReadable({ name }: ToolDefinition): boolean {
  return (plain.test(name) || readable.test(name)) && name.length <= limits.toolNameCharactersMax
}

/**
 * Of two tools with one name the first counts. `digests`, where they are known, are those of the
 * definitions, in their order.
 */
export function toTools(
  server: string,
  config: ServerConfig,
  definitions: readonly ToolDefinition[],
  digests: readonly string[] | null = null,
): Tool[] {
  const byName = new Map<string, Tool>()
  let readableCount = 0
  for (const [place, definition] of definitions.entries()) {
    if (!isReadable(definition)) continue
    if (++readableCount > limits.catalogToolsMax) break
    const { name } = definition
    if (!byName.has(name)) byName.set(name, toTool(server, config, definition, digests?.[place]))
  }
  return [...byName.values()]
}

function toTool(server: string, config: ServerConfig, definition: ToolDefinition, digest?: string): Tool {
  const { name, description = '', inputSchema, outputSchema, annotations = {} } = definition
  return {
    id: `${server}:${name}`,
    server,
    name,
    description,
    input: inputSchema as JsonObject,
    ...(outputSchema === undefined ? {} : { output: outputSchema as JsonObject }),
    annotations: annotations as JsonObject,
    ...effectOf(config, name, annotations),
    digest: digest ?? canonicalDigest({ name, description, inputSchema, outputSchema, annotations }),
  }
}

export function effectOf(config: ServerConfig, name: string, annotations: ToolDefinition['annotations']) {
  const configured = Object.hasOwn(config.effects, name) ? config.effects[name] : undefined
  if (configured !== undefined) return { effect: configured, effectFrom: 'configuration' as const }
  const hinted: Effect | null = annotations?.readOnlyHint ? 'read' : annotations?.idempotentHint ? 'idempotent' : null
  if (hinted !== null) return { effect: hinted, effectFrom: 'annotations' as const }
  return { effect: 'unsafe' as const, effectFrom: 'default' as const }
}

/**
 * What makes a server the same server: how it is reached, without what is secret, so that a new
 * token is no new server. `secrets` are values known to be secret wherever they stand.
 */
export function serverDigest(config: ServerConfig, secrets: readonly string[]): string {
  const hide = (text: string) => secrets.reduce((hidden, secret) => hidden.replaceAll(secret, redactedSecret), text)
  const hideMap = (map: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(map).map(([key, value]) => [key, isSecretName(key) ? redactedSecret : hide(value)]),
    )
  if (config.type !== 'stdio') {
    return canonicalDigest({ type: config.type, url: hide(config.url), headers: hideMap(config.headers) })
  }
  const { type, command, args, env, cwd, sandbox } = config
  const box = sandbox === null ? {} : { sandbox }
  return canonicalDigest({ type, command: hide(command), args: args.map(hide), env: hideMap(env), cwd, ...box })
}

/** The same whatever the order of keys. */
export function canonicalDigest(value: unknown): string {
  return sha256(JSON.stringify(sorted(value)))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(entries.map(([key, member]) => [key, sorted(member)]))
}
