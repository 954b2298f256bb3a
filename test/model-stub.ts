/**
 * A language model that says what a test wrote down, over the two protocols that hosts speak: a
 * real host then does the rest.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Scope } from './scope.ts'

/**
 * What the model does next, after so many results of tools: a call of one of ours, or its last
 * words.
 */
export type Step = { tool: string; input: object } | { say: string }
export type Stub = {
  url: string
  /** The names of the tools that the host offers to the model. */
  tools(): string[]
  /** What the host told the model of each call, in the order of the calls. */
  results(): string[]
}

// biome-ignore lint/suspicious/noExplicitAny: requests of hosts, of which a few members are looked at.
type Request = any

export async function modelStub(t: Scope, next: (results: string[]) => Step): Promise<Stub> {
  let tools: string[] = []
  let results: string[] = []
  const server = createServer(async (request, response) => {
    const body = await read(request)
    const path = (request.url ?? '').split('?')[0]!
    const protocol = path.endsWith('/messages') ? messages : path.endsWith('/responses') ? responses : null
    if (protocol === null || body === null) return void response.writeHead(404).end('{}')
    const offered = protocol.tools(body)
    // A host also asks for titles and the like, without tools: that is no part of the conversation.
    const isAside = !offered.some((name) => name.includes('metier'))
    if (!isAside) {
      tools = offered
      results = protocol.results(body)
    }
    protocol.answer(response, body, isAside ? { say: 'ok' } : next(results))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, tools: () => tools, results: () => results }
}

async function read(request: IncomingMessage): Promise<Request | null> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    return null
  }
}

type Protocol = {
  tools(body: Request): string[]
  results(body: Request): string[]
  answer(response: ServerResponse, body: Request, step: Step): void
}

function stream(response: ServerResponse): (type: string, data: object) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  return (type, data) => void response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`)
}

const textOf = (content: unknown) => (typeof content === 'string' ? content : JSON.stringify(content))

/** Anthropic's, as Claude Code speaks it. */
const messages: Protocol = {
  tools: ({ tools = [] }) => tools.map(({ name }: Request) => name),
  results: ({ messages: all = [] }) =>
    all
      .flatMap(({ content }: Request) => (Array.isArray(content) ? content : []))
      .filter(({ type }: Request) => type === 'tool_result')
      .map(({ content }: Request) => textOf(content)),
  answer(response, { model, messages: all, stream: isStream }, step) {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const head = { id: `msg_${all.length}`, type: 'message', role: 'assistant', model, stop_sequence: null, usage }
    if (!isStream) {
      const content = [{ type: 'text', text: 'say' in step ? step.say : '' }]
      response.writeHead(200, { 'content-type': 'application/json' })
      return void response.end(JSON.stringify({ ...head, content, stop_reason: 'end_turn' }))
    }
    const send = stream(response)
    const isCall = 'tool' in step
    const block = isCall
      ? { type: 'tool_use', id: `toolu_${all.length}`, name: `mcp__metier__${step.tool}`, input: {} }
      : { type: 'text', text: '' }
    const delta = isCall
      ? { type: 'input_json_delta', partial_json: JSON.stringify(step.input) }
      : { type: 'text_delta', text: step.say }
    send('message_start', { message: { ...head, content: [], stop_reason: null } })
    send('content_block_start', { index: 0, content_block: block })
    send('content_block_delta', { index: 0, delta })
    send('content_block_stop', { index: 0 })
    send('message_delta', { delta: { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null }, usage })
    send('message_stop', {})
    response.end()
  },
}

/** OpenAI's, as Codex speaks it; the tools of a server stand together under its name. */
const responses: Protocol = {
  tools: ({ tools = [] }) =>
    tools.flatMap(({ name, tools: inner }: Request) =>
      inner ? inner.map((each: Request) => `${name}__${each.name}`) : (name ?? []),
    ),
  results: ({ input = [] }) =>
    input
      .filter(({ type }: Request) => type === 'function_call_output')
      .map(({ output }: Request) => textOf(output?.content ?? output)),
  answer(response, { input = [] }, step) {
    const send = stream(response)
    const n = input.length
    send('response.created', { response: { id: `resp_${n}` } })
    const item =
      'tool' in step
        ? {
            ...{ type: 'function_call', id: `fc_${n}`, call_id: `call_${n}`, namespace: 'mcp__metier' },
            ...{ name: step.tool, arguments: JSON.stringify(step.input) },
          }
        : { type: 'message', id: `m_${n}`, role: 'assistant', content: [{ type: 'output_text', text: step.say }] }
    send('response.output_item.done', { output_index: 0, item })
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    send('response.completed', { response: { id: `resp_${n}`, usage } })
    response.end()
  },
}
