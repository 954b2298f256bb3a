/**
 * A provider of language models on loopback that answers what a test wrote down, over the protocols
 * of Anthropic (messages) and OpenAI (responses, chat completions), streamed or not. It writes each
 * request into a ledger of its own before it answers.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Scope } from './scope.ts'

export type Reply =
  | { text: string; tool?: { name: string; input: object }; stop?: 'max_tokens' | 'context_overflow'; eachMs?: number }
  | { refusal: string }
  | { status: number; headers?: Record<string, string>; body?: unknown }
  /** A 200 whose body is no JSON. */
  | { malformed: string }
  /** The connection is cut before a byte of the answer, or after its first half. */
  | { cut: 'before' | 'middle' }
  /** An error inside of a stream that began well. */
  | { streamError: string }
  /** Nothing is answered until the client gives up. */
  | { silent: true }

// biome-ignore lint/suspicious/noExplicitAny: requests of clients, looked into member by member.
export type ProviderRequest = { path: string; headers: Record<string, string>; body: any }
export type ProviderStub = { url: string; requests(): ProviderRequest[] }

/** `reply` gets the number of the request, from 0. */
export async function providerStub(
  t: Scope,
  ledger: string,
  reply: (n: number, asked: ProviderRequest) => Reply,
): Promise<ProviderStub> {
  let n = 0
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').split('?')[0]!
    const text = await bodyOf(request)
    const asked = {
      path,
      headers: request.headers as Record<string, string>,
      body: text === '' ? null : JSON.parse(text),
    }
    appendFileSync(ledger, `${JSON.stringify(asked)}\n`)
    if (path.endsWith('/models')) return end(response, 200, { data: [{ id: 'stub-model' }] })
    answer(response, path, asked.body, reply(n++, asked))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const lines = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n').filter(Boolean) : [])
  return { url: `http://127.0.0.1:${port}/v1`, requests: () => lines().map((line) => JSON.parse(line)) }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function end(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

function answer(response: ServerResponse, path: string, body: ProviderRequest['body'], reply: Reply): void {
  const protocol = path.endsWith('/messages') ? anthropic : path.endsWith('/responses') ? responses : chat
  if ('silent' in reply) return
  if ('status' in reply) return end(response, reply.status, reply.body ?? { error: { message: 'no' } }, reply.headers)
  if ('cut' in reply && reply.cut === 'before') return void response.destroy()
  if (!body.stream) {
    if ('malformed' in reply) return end(response, 200, reply.malformed)
    const text = JSON.stringify(protocol.whole('cut' in reply ? { text: 'half of it' } : reply))
    if (!('cut' in reply)) return end(response, 200, text)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length })
    return void response.write(text.slice(0, text.length / 2), () => response.destroy())
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if ('malformed' in reply) return void response.end(`data: ${reply.malformed}\n\n`)
  const events = protocol.events('cut' in reply ? { text: 'half of it' } : reply)
  if ('eachMs' in reply) return void sayOneByOne(response, events, reply.eachMs!)
  if (!('cut' in reply)) return void response.end(events.map(line).join(''))
  response.write(
    events
      .slice(0, Math.ceil(events.length / 2))
      .map(line)
      .join(''),
    () => response.destroy(),
  )
}

/** Pieces of a text are parted by a pause; a client that goes ends it. */
async function sayOneByOne(response: ServerResponse, events: (object | string)[], ms: number): Promise<void> {
  for (const event of events) {
    if (response.destroyed) return
    response.write(line(event))
    if (JSON.stringify(event).includes('"delta"')) await pause(ms)
  }
  response.end()
}

function line(event: object | string): string {
  if (typeof event === 'string') return `data: ${event}\n\n`
  const name = 'type' in event ? `event: ${event.type}\n` : ''
  return `${name}data: ${JSON.stringify(event)}\n\n`
}

type SpokenReply = Extract<Reply, { text: string } | { refusal: string } | { streamError: string } | { status: number }>
type Protocol = { whole(reply: SpokenReply): object; events(reply: SpokenReply): (object | string)[] }

/** A text comes in two pieces. */
function halves(text: string): string[] {
  return [text.slice(0, text.length >> 1), text.slice(text.length >> 1)]
}

const parts = (reply: SpokenReply) => ({
  text: 'text' in reply ? reply.text : 'refusal' in reply ? reply.refusal : '',
  tool: 'tool' in reply ? reply.tool : undefined,
  stop: 'stop' in reply ? reply.stop : undefined,
  isRefusal: 'refusal' in reply,
})

const anthropic: Protocol = {
  whole(reply) {
    const { text, tool, stop, isRefusal } = parts(reply)
    const ends = { max_tokens: 'max_tokens', context_overflow: 'model_context_window_exceeded' }
    const called = tool ? [{ type: 'tool_use', id: 'toolu_1', name: tool.name, input: tool.input }] : []
    const stop_reason = isRefusal ? 'refusal' : stop ? ends[stop] : tool ? 'tool_use' : 'end_turn'
    const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'stub-model', stop_sequence: null }
    const content = [...(text === '' ? [] : [{ type: 'text', text }]), ...called]
    return { ...head, content, stop_reason, usage: { input_tokens: 100, output_tokens: 20 } }
  },
  events(reply) {
    // biome-ignore lint/suspicious/noExplicitAny: our own message, taken apart again.
    const { content, stop_reason, usage, ...head } = anthropic.whole(reply) as any
    const start = { type: 'message_start', message: { ...head, content: [], stop_reason: null, usage } }
    if ('streamError' in reply) return [start, { type: 'error', error: { type: reply.streamError, message: 'sorry' } }]
    const blocks = content.flatMap((block: { type: string; text: string; input: object }, index: number) => {
      const isText = block.type === 'text'
      const deltas = isText
        ? halves(block.text).map((text) => ({ type: 'text_delta', text }))
        : halves(JSON.stringify(block.input)).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
      const content_block = isText ? { type: 'text', text: '' } : { ...block, input: {} }
      return [
        { type: 'content_block_start', index, content_block },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]
    })
    const delta = { stop_reason, stop_sequence: null }
    return [start, ...blocks, { type: 'message_delta', delta, usage }, { type: 'message_stop' }]
  },
}

const responses: Protocol = {
  whole(reply) {
    const { text, tool, stop, isRefusal } = parts(reply)
    const said = isRefusal ? { type: 'refusal', refusal: text } : { type: 'output_text', text, annotations: [] }
    const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [said] }
    const call = tool && {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'call_1',
      name: tool.name,
      arguments: JSON.stringify(tool.input),
    }
    const output = [...(text === '' ? [] : [message]), ...(call ? [{ ...call, status: 'completed' }] : [])]
    const incomplete_details = stop ? { reason: 'max_output_tokens' } : null
    const usage = { input_tokens: 100, output_tokens: 20, total_tokens: 120 }
    const head = { id: 'resp_1', object: 'response', created_at: 1, model: 'stub-model', error: null }
    return { ...head, status: stop ? 'incomplete' : 'completed', output, incomplete_details, usage }
  },
  events(reply) {
    // biome-ignore lint/suspicious/noExplicitAny: our own response, taken apart again.
    const whole = responses.whole(reply) as any
    const created = { type: 'response.created', response: { ...whole, output: [], status: 'in_progress', usage: null } }
    if ('streamError' in reply)
      return [
        created,
        {
          type: 'error',
          sequence_number: 1,
          error: { type: reply.streamError, code: reply.streamError, message: 'sorry' },
        },
      ]
    const items = whole.output.flatMap((item: ProviderRequest['body'], output_index: number) => {
      const content = item.content?.[0]
      const at = { item_id: item.id, output_index, content_index: 0 }
      const deltas =
        item.type === 'function_call'
          ? halves(item.arguments).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta }))
          : content.type === 'refusal'
            ? [
                ...halves(content.refusal).map((delta) => ({ type: 'response.refusal.delta', ...at, delta })),
                { type: 'response.refusal.done', ...at, refusal: content.refusal },
              ]
            : halves(content.text).map((delta) => ({ type: 'response.output_text.delta', ...at, delta }))
      const begun = item.type === 'message' ? { ...item, content: [] } : { ...item, arguments: '' }
      return [
        { type: 'response.output_item.added', output_index, item: begun },
        ...deltas,
        { type: 'response.output_item.done', output_index, item },
      ]
    })
    const last = whole.status === 'completed' ? 'response.completed' : 'response.incomplete'
    return [created, ...items, { type: last, response: whole }]
  },
}

const chat: Protocol = {
  whole(reply) {
    const { text, tool, stop, isRefusal } = parts(reply)
    const call = tool && {
      id: 'call_1',
      type: 'function',
      function: { name: tool.name, arguments: JSON.stringify(tool.input) },
    }
    const said = isRefusal ? { content: null, refusal: text } : { content: text }
    const message = { role: 'assistant', ...said, ...(call && { tool_calls: [call] }) }
    const finish_reason = stop ? 'length' : call ? 'tool_calls' : 'stop'
    const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
    return {
      id: 'chat_1',
      object: 'chat.completion',
      created: 1,
      model: 'stub-model',
      choices: [{ index: 0, message, finish_reason }],
      usage,
    }
  },
  events(reply) {
    // biome-ignore lint/suspicious/noExplicitAny: our own completion, taken apart again.
    const { choices, usage, ...rest } = chat.whole(reply) as any
    const head = { ...rest, object: 'chat.completion.chunk' }
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, finish_reason }],
    })
    if ('streamError' in reply)
      return [chunk({ content: 'x' }), { error: { type: reply.streamError, message: 'sorry' } }]
    const { content, refusal, tool_calls = [] } = choices[0].message
    const texts = halves(content ?? refusal).map((text) => chunk(refusal ? { refusal: text } : { content: text }))
    const calls = tool_calls.map((call: object, index: number) => chunk({ tool_calls: [{ index, ...call }] }))
    return [...texts, ...calls, chunk({}, choices[0].finish_reason), { ...head, choices: [], usage }, '[DONE]']
  },
}
