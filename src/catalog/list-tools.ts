/** Asks a server what tools it has; one that it describes badly does not spoil the others. */
import {
  type Client,
  type RequestOptions,
  SdkError,
  SdkErrorCode,
  type StandardSchemaV1,
  type Tool as ToolDefinition,
} from '@modelcontextprotocol/client'
import { isObject, limits } from '#model'

export async function listTools(client: Client, signal?: AbortSignal): Promise<ToolDefinition[]> {
  // Without the capability the client would only print to our standard output and answer nothing.
  if (client.getServerCapabilities()?.tools === undefined) return []
  const options = { timeout: limits.upstreamStartMsMax, ...(signal && { signal }) }
  try {
    return (await client.listTools({}, { ...options, cacheMode: 'refresh' })).tools
  } catch (error) {
    if (!isInvalidResult(error)) throw error
    return await listLeniently(client, options)
  }
}

/** The client asks for page after page by itself, whatever comes: all of them together are bounded here. */
export function boundLists(client: Client): void {
  const ask = client.request.bind(client) as (request: Asked, ...rest: unknown[]) => Promise<unknown>
  let bytes = 0
  const counted = async (request: Asked, ...rest: unknown[]) => {
    const answer = await ask(request, ...rest)
    if (request.method !== 'tools/list') return answer
    bytes = (request.params?.cursor === undefined ? 0 : bytes) + JSON.stringify(answer).length
    if (bytes > limits.catalogListBytesMax) throw tooLong
    return answer
  }
  client.request = counted as Client['request']
}

type Asked = { method: string; params?: { cursor?: unknown } }

const tooLong = new SdkError(
  SdkErrorCode.ListPaginationExceeded,
  `its list of tools has more than ${limits.catalogListBytesMax} bytes`,
)

/** It goes on for too long, or for ever. */
export function isTooLong(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.ListPaginationExceeded
}

/** It answered, but not as the protocol says. */
export function isInvalidResult(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.InvalidResult
}

async function listLeniently(client: Client, options: RequestOptions): Promise<ToolDefinition[]> {
  const found: ToolDefinition[] = []
  let params: { cursor?: string } = {}
  for (let pages = 0; pages < limits.catalogPagesMax; pages++) {
    const { tools, nextCursor } = await client.request({ method: 'tools/list', params }, page, options)
    found.push(...tools.flatMap((tool) => definitionOf(tool) ?? []))
    if (nextCursor === undefined) break
    params = { cursor: nextCursor }
  }
  // Where headers are to repeat arguments, a definition must be right to the letter.
  const isStrict = client.getProtocolEra() === 'modern'
  return found.filter((tool) => !(isStrict && JSON.stringify(tool).includes('"x-mcp-header"')))
}

/** What is no name is no tool; of the rest what is as it should be. */
function definitionOf(value: unknown): ToolDefinition | null {
  if (!isObject(value) || typeof value.name !== 'string') return null
  const { name, description, inputSchema, outputSchema, annotations } = value
  const hints = Object.entries(isObject(annotations) ? annotations : {}).filter(([key, hint]) =>
    key === 'title' ? typeof hint === 'string' : typeof hint === 'boolean',
  )
  return {
    name,
    inputSchema: { ...(isObject(inputSchema) ? inputSchema : {}), type: 'object' },
    annotations: Object.fromEntries(hints),
    ...(typeof description === 'string' ? { description } : {}),
    ...(isObject(outputSchema) ? { outputSchema: outputSchema as ToolDefinition['outputSchema'] } : {}),
  } as ToolDefinition
}

type Page = { tools: unknown[]; nextCursor?: string }

const page: StandardSchemaV1<unknown, Page> = {
  '~standard': {
    version: 1,
    vendor: 'metier',
    validate(value) {
      if (!isObject(value) || !Array.isArray(value.tools)) return { issues: [{ message: '"tools" is not a list' }] }
      const { tools, nextCursor } = value
      return { value: { tools, ...(typeof nextCursor === 'string' ? { nextCursor } : {}) } }
    },
  },
}
