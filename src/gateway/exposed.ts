/** Tools that the configuration puts on the surface beside the three: each call of one is a run of one call like any other. */
import { createHash } from 'node:crypto'
import type { CallToolResult, Tool as SurfaceTool } from '@modelcontextprotocol/server'
import { isObject, type Json, type JsonObject, limits, type Tool } from '#model'
import type { Caller, Verbs } from './verbs.ts'

/** `server__name`, since a colon is not for names of tools. */
const nameOf = ({ server, name }: Tool) => `${server}__${name}`

/** In the order of the configuration, as their servers describe them; those of a server that cannot be asked are left out. */
export async function exposedTools(verbs: Verbs): Promise<SurfaceTool[]> {
  return (await verbs.exposed()).map((tool) => ({
    name: nameOf(tool),
    description: tool.description,
    inputSchema: { ...tool.input, type: 'object' },
    ...(tool.output === undefined ? {} : { outputSchema: { ...tool.output, type: 'object' } }),
    annotations: tool.annotations,
  }))
}

/** Null when no such tool is exposed. */
export async function callExposed(
  verbs: Verbs,
  name: string,
  input: JsonObject,
  caller: Caller,
): Promise<CallToolResult | null> {
  const tool = (await verbs.exposed()).find((exposed) => nameOf(exposed) === name)
  if (tool === undefined) return null
  const tasks = [{ id: 'call', tool: tool.id, arguments: { $literal: input } }]
  const answer = await verbs.execute({ intent: `call ${tool.id}`, implementation: { type: 'dag', tasks } }, caller)
  if (answer.status === 'done') return ownResult(await resultOf(verbs, answer, caller))
  const { error } = answer
  const text = isObject(error) ? String(error.message) : JSON.stringify(answer)
  return { content: [{ type: 'text', text }], isError: true }
}

/** A result too large for an answer is read page by page; a text is told from other JSON by its digest. */
async function resultOf(verbs: Verbs, answer: JsonObject, caller: Caller): Promise<Json> {
  if ('result' in answer) return answer.result!
  let text = ''
  let digest: unknown
  for (let offset: unknown = 0; typeof offset === 'number'; ) {
    const page = await verbs.result({ run: answer.run, format: 'text', offset, limit: limits.resultPageMax }, caller)
    text += page.text
    digest = page.digest
    offset = page.next
  }
  const isText = createHash('sha256').update(JSON.stringify(text)).digest('hex') === digest
  return isText ? text : JSON.parse(text)
}

/** As the tool gave it: structure, a text, or the parts that it was made of. */
function ownResult(value: Json): CallToolResult {
  if (isParts(value)) return { content: value }
  const content: CallToolResult['content'] = [
    { type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) },
  ]
  return isObject(value) ? { content, structuredContent: value } : { content }
}

const partTypes = new Set(['text', 'image', 'audio', 'resource', 'resource_link'])

function isParts(value: unknown): value is CallToolResult['content'] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((part) => isObject(part) && partTypes.has(String(part.type)))
  )
}
