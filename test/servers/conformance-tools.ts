/**
 * The tools that the conformance suite calls by name: what each is given, asks for and gives back.
 */

import { setTimeout as pause } from 'node:timers/promises'
import {
  acceptedContent,
  type CallToolResult,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  ProtocolError,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'

export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const silence = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=='

type Args = Record<string, unknown>
type Answer = CallToolResult | InputRequiredResult
/** What the server around the tools can do for them. */
export type Around = { capabilities(): object; changed(what: 'tools' | 'prompts'): Promise<void> }
type Fixture = {
  takes?: object
  call(args: Args, context: ServerContext, around: Around): Answer | Promise<Answer>
}

const says = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] })
const text = { type: 'string' } as const
const object = (properties: Record<string, object>, required = Object.keys(properties)) => ({
  type: 'object' as const,
  properties,
  required,
})

const form = (message: string, requestedSchema: object): InputRequest => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: requestedSchema as never },
})
const think = (words: string, maxTokens = 100): InputRequest =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens })

/** Asks once, and says what was answered. */
function asking(requests: Record<string, InputRequest>, tell: (responses: Args) => string, requestState?: string) {
  return (_: Args, { mcpReq }: ServerContext): Answer => {
    const responses = mcpReq.inputResponses ?? {}
    const missing = Object.keys(requests).filter((key) => inputResponse(responses, key).kind === 'missing')
    if (missing.length === 0) return says(tell(responses))
    return inputRequired({ inputRequests: requests, ...(requestState !== undefined && { requestState }) })
  }
}

const name = form('What is your name?', object({ name: text }))
const confirm = form('Please confirm', object({ ok: { type: 'boolean' } }))
const options = ['option1', 'option2', 'option3']
const titled = [1, 2, 3].map((number) => ({ const: `value${number}`, title: `Choice ${number}` }))

const plain: Record<string, Fixture> = {
  test_simple_text: { call: () => says('This is a simple text response for testing.') },
  test_image_content: { call: () => ({ content: [{ type: 'image', data: pixel, mimeType: 'image/png' }] }) },
  test_audio_content: { call: () => ({ content: [{ type: 'audio', data: silence, mimeType: 'audio/wav' }] }) },
  test_embedded_resource: {
    call: () => ({
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    }),
  },
  test_multiple_content_types: {
    call: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        { type: 'image', data: pixel, mimeType: 'image/png' },
        {
          type: 'resource',
          resource: {
            uri: 'test://mixed-content-resource',
            mimeType: 'application/json',
            text: '{"test":"data","value":123}',
          },
        },
      ],
    }),
  },
  test_custom_header: {
    takes: object(
      { region: { ...text, 'x-mcp-header': 'Region' }, count: { type: 'integer', 'x-mcp-header': 'Count' } },
      [],
    ),
    call: ({ region }) => says(`region ${region}`),
  },
  echo_meta: { call: (_, { mcpReq }) => says(JSON.stringify(mcpReq._meta ?? {})) },
  test_error_handling: {
    call: () => ({
      isError: true,
      content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
    }),
  },
  json_schema_2020_12_tool: {
    takes: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: text, city: text } } },
      properties: {
        name: text,
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: text,
        email: text,
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    call: (args) => says(JSON.stringify(args)),
  },
  test_header_param: {
    takes: object({ region: { ...text, 'x-mcp-header': 'Region' } }),
    call: ({ region }) => says(`region ${region}`),
  },
}

async function log({ mcpReq }: ServerContext, lines: string[]): Promise<void> {
  for (const line of lines) {
    await mcpReq.log('info', line)
    await pause(50)
  }
}

let cancelled = 0

const busy: Record<string, Fixture> = {
  test_tool_with_logging: {
    async call(_, context) {
      await log(context, ['Tool execution started', 'Tool processing data', 'Tool execution completed'])
      return says('logged')
    },
  },
  test_logging_tool: {
    async call(_, context) {
      await log(context, ['for whoever asked'])
      return says('logged')
    },
  },
  test_tool_with_progress: {
    async call(_, { mcpReq }) {
      const progressToken = mcpReq._meta?.progressToken
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) {
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } })
        }
        await pause(50)
      }
      return says('done')
    },
  },
  wait_until_cancelled: {
    async call(_, { mcpReq: { signal } }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
      cancelled += 1
      return says('too late')
    },
  },
  count_cancelled: { call: () => says(String(cancelled)) },
  test_trigger_tool_change: {
    async call(_, __, { changed }) {
      await changed('tools')
      return says('changed')
    },
  },
  test_trigger_prompt_change: {
    async call(_, __, { changed }) {
      await changed('prompts')
      return says('changed')
    },
  },
}

const curious: Record<string, Fixture> = {
  test_sampling: {
    takes: object({ prompt: text }),
    call: ({ prompt }, context) =>
      asking({ answer: think(String(prompt)) }, ({ answer }) => `LLM response: ${JSON.stringify(answer)}`)({}, context),
  },
  test_elicitation: {
    takes: object({ message: text }),
    call: ({ message }, context) =>
      asking(
        { answer: form(String(message), object({ username: text, email: text })) },
        ({ answer }) => `User response: ${JSON.stringify(answer)}`,
      )({}, context),
  },
  test_elicitation_sep1034_defaults: {
    call: asking(
      {
        answer: form(
          'Please review the form',
          object(
            {
              name: { ...text, default: 'John Doe' },
              age: { type: 'integer', default: 30 },
              score: { type: 'number', default: 95.5 },
              status: { ...text, enum: ['active', 'inactive', 'pending'], default: 'active' },
              verified: { type: 'boolean', default: true },
            },
            [],
          ),
        ),
      },
      ({ answer }) => `Elicitation completed: ${JSON.stringify(answer)}`,
    ),
  },
  test_elicitation_sep1330_enums: {
    call: asking(
      {
        answer: form(
          'Please choose',
          object(
            {
              untitledSingle: { ...text, enum: options },
              titledSingle: { ...text, oneOf: titled },
              legacyEnum: { ...text, enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
              untitledMulti: { type: 'array', items: { ...text, enum: options } },
              titledMulti: { type: 'array', items: { anyOf: titled } },
            },
            [],
          ),
        ),
      },
      ({ answer }) => `Elicitation completed: ${JSON.stringify(answer)}`,
    ),
  },
  test_missing_capability: { call: asking({ thought: think('hello') }, () => 'thought') },
  test_streaming_elicitation: { call: asking({ user_name: name }, () => 'streamed') },
  test_input_required_result_elicitation: {
    call: (_, { mcpReq }) => {
      const given = acceptedContent(mcpReq.inputResponses, 'user_name')
      return given === undefined ? inputRequired({ inputRequests: { user_name: name } }) : says(`Hello, ${given.name}!`)
    },
  },
  test_input_required_result_sampling: {
    call: asking({ capital_question: think('What is the capital of France?') }, (given) => JSON.stringify(given)),
  },
  test_input_required_result_list_roots: {
    call: asking({ client_roots: inputRequired.listRoots() }, (given) => JSON.stringify(given)),
  },
  test_input_required_result_request_state: {
    call: (_, { mcpReq }) =>
      mcpReq.requestState() === 'first-round'
        ? says('state-ok')
        : inputRequired({ inputRequests: { confirm }, requestState: 'first-round' }),
  },
  test_input_required_result_multiple_inputs: {
    call: asking(
      { user_name: name, greeting: think('Generate a greeting', 50), client_roots: inputRequired.listRoots() },
      (given) => JSON.stringify(given),
      'all-three',
    ),
  },
  test_input_required_result_multi_round: {
    call: (_, { mcpReq }) => {
      const color = form('Step 2: What is your favorite color?', object({ color: text }))
      if (mcpReq.requestState() === 'round-2') return says('done after two rounds')
      if (mcpReq.requestState() === 'round-1')
        return inputRequired({ inputRequests: { step2: color }, requestState: 'round-2' })
      const step1 = form('Step 1: What is your name?', object({ name: text }))
      return inputRequired({ inputRequests: { step1 }, requestState: 'round-1' })
    },
  },
  test_input_required_result_tampered_state: {
    call: (_, { mcpReq }) => {
      const state = mcpReq.requestState()
      if (state === undefined) return inputRequired({ inputRequests: { confirm }, requestState: 'sealed' })
      if (state === 'sealed') return says('untouched')
      throw new ProtocolError(-32602, 'The requestState is not the one that was given')
    },
  },
  test_input_required_result_capabilities: {
    call: (_, { mcpReq }, { capabilities }) => {
      const has = capabilities() as { sampling?: object; elicitation?: object }
      if (Object.keys(mcpReq.inputResponses ?? {}).length > 0) return says('thank you')
      return inputRequired({
        inputRequests: { ...(has.sampling && { thought: think('hello') }), ...(has.elicitation && { confirm }) },
      })
    },
  },
}

export const fixtures: Record<string, Fixture> = { ...plain, ...busy, ...curious }

export function listTools(): Tool[] {
  return Object.entries(fixtures).map(([tool, { takes = {} }]) => ({
    name: tool,
    description: `A fixture of the conformance suite: ${tool.replaceAll('_', ' ')}.`,
    inputSchema: { type: 'object', ...takes },
    annotations: { readOnlyHint: true },
  }))
}
