/** Asks a server what tools it has; one that it describes badly does not spoil the others. */
import { createHash } from 'node:crypto'
import {
  type Client,
  isSpecType,
  type RequestOptions,
  SdkError,
  SdkErrorCode,
  type StandardSchemaV1,
  type Tool as ToolDefinition,
} from '@modelcontextprotocol/client'
import { isObject, limits } from '#model'

/**
 * A list of tools as it came. Validating and digesting 50,000 definitions takes seconds, comparing
 * the digest of the list with that of the last one does not: what a list says is read only where it
 * is another one, or for a single tool.
 */
export type Listing = {
  /** Of all pages; null where the client has read them itself. */
  digest: string | null
  /** `isStrict` where every definition is as the protocol wants it. */
  read(mayBeStrict?: boolean): { definitions: ToolDefinition[]; isStrict: boolean }
  /** The first of this name, of a list in which all are as the protocol wants them. */
  definition(name: string): ToolDefinition | undefined
}

export async function listTools(client: Client, signal?: AbortSignal): Promise<Listing> {
  // Without the capability the client would only print to our standard output and answer nothing.
  if (client.getServerCapabilities()?.tools === undefined) return validated([], true)
  const options = { timeout: limits.upstreamStartMsMax, ...(signal && { signal }) }
  if (client.getProtocolEra() !== 'modern') return await listPages(client, options)
  try {
    return validated((await client.listTools({}, { ...options, cacheMode: 'refresh' })).tools, true)
  } catch (error) {
    if (!isInvalidResult(error)) throw error
    // Where headers are to repeat arguments, a definition must be right to the letter.
    const { definitions } = (await listPages(client, options)).read(false)
    return validated(
      definitions.filter((tool) => !JSON.stringify(tool).includes('"x-mcp-header"')),
      false,
    )
  }
}

/** What the client has read and judged by itself, or what was judged already. */
function validated(definitions: ToolDefinition[], isStrict: boolean): Listing {
  return {
    digest: null,
    read: () => ({ definitions, isStrict }),
    definition: (name) => definitions.find((definition) => definition.name === name),
  }
}

/**
 * Page after page, each as it came. A server that repeats its last page has no more; all pages
 * together are bounded.
 */
async function listPages(client: Client, options: RequestOptions): Promise<Listing> {
  const digest = createHash('sha256')
  const tools: unknown[] = []
  let areStrict = true
  let bytes = 0
  let lastText = ''
  let cursor: string | undefined
  for (let pages = 0; pages < limits.catalogPagesMax; pages++) {
    const params = cursor === undefined ? {} : { cursor }
    const answer = await client.request({ method: 'tools/list', params }, page, options)
    const text = JSON.stringify(answer.tools)
    if (text === lastText && cursor !== undefined && answer.nextCursor === cursor) break
    bytes += text.length
    if (bytes > limits.catalogListBytesMax) throw tooLong
    digest.update(`${text}\n`)
    for (const tool of answer.tools) tools.push(tool)
    areStrict &&= answer.isStrict
    lastText = text
    cursor = answer.nextCursor
    if (cursor === undefined) break
    if (pages + 1 === limits.catalogPagesMax) throw tooManyPages
  }
  return {
    digest: digest.digest('hex'),
    read(mayBeStrict = true) {
      const isStrict = mayBeStrict && areStrict && tools.every(isStrictTool)
      const definitions = isStrict ? tools.map(strictOf) : tools.flatMap((tool) => definitionOf(tool) ?? [])
      return { definitions, isStrict }
    },
    definition(name) {
      const found = tools.find((tool) => isObject(tool) && tool.name === name)
      return found !== undefined && isStrictTool(found) ? strictOf(found) : undefined
    },
  }
}

/**
 * The client asks for page after page by itself, whatever comes: all of them together are bounded
 * here.
 */
export function boundLists(client: Client): void {
  const ask = client.request.bind(client) as (request: ListRequest, ...rest: unknown[]) => Promise<unknown>
  let bytes = 0
  const counted = async (request: ListRequest, ...rest: unknown[]) => {
    const answer = await ask(request, ...rest)
    if (request.method !== 'tools/list' || rest[0] === page) return answer
    bytes = (request.params?.cursor === undefined ? 0 : bytes) + JSON.stringify(answer).length
    if (bytes > limits.catalogListBytesMax) throw tooLong
    return answer
  }
  client.request = counted as Client['request']
}

type ListRequest = { method: string; params?: { cursor?: unknown } }

const tooLong = new SdkError(
  SdkErrorCode.ListPaginationExceeded,
  `its list of tools has more than ${limits.catalogListBytesMax} bytes`,
)
const tooManyPages = new SdkError(
  SdkErrorCode.ListPaginationExceeded,
  `its list of tools has more than ${limits.catalogPagesMax} pages`,
)

/** It goes on for too long, or for ever. */
export function isTooLong(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.ListPaginationExceeded
}

/** It answered, but not as the protocol says. */
export function isInvalidResult(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.InvalidResult
}

/**
 * As the legacy protocol has it: there the schema of a result is judged as that of the arguments
 * is.
 */
function isStrictTool(value: unknown): value is ToolDefinition {
  if (!isSpecType.Tool(value)) return false
  const { outputSchema } = value
  return outputSchema === undefined || isSpecType.Tool({ name: '', inputSchema: outputSchema })
}

const hints = ['title', 'readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']

/**
 * Of one that is as it should be all that is ever read: the digest of a tool is that of these
 * members.
 */
function strictOf(value: unknown): ToolDefinition {
  const { name, description, inputSchema, outputSchema, annotations } = value as ToolDefinition
  const known = Object.entries(annotations ?? {}).filter(([key]) => hints.includes(key))
  return {
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations: Object.fromEntries(known) }),
  }
}

/** What is no name is no tool; of the rest what is as it should be. */
function definitionOf(value: unknown): ToolDefinition | null {
  if (!isObject(value) || typeof value.name !== 'string') return null
  const { name, description, inputSchema, outputSchema, annotations } = value
  const known = Object.entries(isObject(annotations) ? annotations : {}).filter(([key, hint]) =>
    key === 'title' ? typeof hint === 'string' : typeof hint === 'boolean',
  )
  return {
    name,
    inputSchema: { ...(isObject(inputSchema) ? inputSchema : {}), type: 'object' },
    annotations: Object.fromEntries(known),
    ...(typeof description === 'string' ? { description } : {}),
    ...(isObject(outputSchema) ? { outputSchema: outputSchema as ToolDefinition['outputSchema'] } : {}),
  } as ToolDefinition
}

type Page = { tools: unknown[]; nextCursor?: string; isStrict: boolean }

const page: StandardSchemaV1<unknown, Page> = {
  '~standard': {
    version: 1,
    vendor: 'metier',
    validate(value) {
      if (!isObject(value) || !Array.isArray(value.tools)) return { issues: [{ message: '"tools" is not a list' }] }
      const { tools, nextCursor } = value
      const isStrict = isSpecType.ListToolsResult({ ...value, tools: [] })
      return { value: { tools, isStrict, ...(typeof nextCursor === 'string' ? { nextCursor } : {}) } }
    },
  },
}
