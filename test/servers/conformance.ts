/**
 * The server that the conformance suite expects: its resources and prompts, and the tools beside;
 * over stdio, in the era that ERA names.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  type GetPromptResult,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  type ReadResourceResult,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { type Around, fixtures, listTools, pixel } from './conformance-tools.ts'

const resources = [
  { uri: 'test://static-text', name: 'static-text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static-binary', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'watched-resource', mimeType: 'text/plain' },
]

function read(uri: string): ReadResourceResult {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? []
  if (id !== undefined) {
    const data = { id, templateTest: true, data: `Data for ID: ${id}` }
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(data) }] }
  }
  if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: pixel }] }
  if (!resources.some((resource) => resource.uri === uri))
    throw new ProtocolError(-32602, 'Resource not found', { uri })
  return { contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }] }
}

const argument = (name: string) => ({ name, description: `The argument ${name}.`, required: true })
const prompts = [
  { name: 'test_simple_prompt' },
  { name: 'test_prompt_with_arguments', arguments: [argument('arg1'), argument('arg2')] },
  { name: 'test_prompt_with_embedded_resource', arguments: [argument('resourceUri')] },
  { name: 'test_prompt_with_image' },
  { name: 'test_input_required_result_prompt' },
].map((prompt) => ({ description: 'A fixture of the conformance suite.', ...prompt }))

type Content = GetPromptResult['messages'][number]['content']
const says = (...contents: Content[]): GetPromptResult => ({
  messages: contents.map((content) => ({ role: 'user', content })),
})
const text = (words: string): Content => ({ type: 'text', text: words })

function prompt(
  name: string,
  args: Record<string, string>,
  { mcpReq }: ServerContext,
): GetPromptResult | InputRequiredResult {
  switch (name) {
    case 'test_simple_prompt':
      return says(text('This is a simple prompt for testing.'))
    case 'test_prompt_with_arguments':
      return says(text(`Prompt with arguments: arg1='${args.arg1}', arg2='${args.arg2}'`))
    case 'test_prompt_with_embedded_resource': {
      const resource = {
        uri: args.resourceUri!,
        mimeType: 'text/plain',
        text: 'Embedded resource content for testing.',
      }
      return says({ type: 'resource', resource }, text('Please process the embedded resource above.'))
    }
    case 'test_prompt_with_image':
      return says({ type: 'image', data: pixel, mimeType: 'image/png' }, text('Please analyze the image above.'))
    case 'test_input_required_result_prompt': {
      if (mcpReq.inputResponses?.user_context !== undefined) return says(text(JSON.stringify(mcpReq.inputResponses)))
      const requestedSchema = { type: 'object' as const, properties: { context: { type: 'string' as const } } }
      const message = 'What context should the prompt use?'
      return inputRequired({ inputRequests: { user_context: inputRequired.elicit({ message, requestedSchema }) } })
    }
  }
  throw new ProtocolError(-32602, `There is no prompt ${name}`)
}

/** `tell` hears of changes where the server itself cannot tell them: modern, over HTTP. */
function build(tell: (what: 'tools' | 'prompts') => void = () => {}): Server {
  const server = new Server(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        completions: {},
        logging: {},
      },
      instructions: 'A fixture of the conformance suite.',
    },
  )
  server.setRequestHandler('tools/list', () => ({ tools: listTools() }))
  server.setRequestHandler('tools/call', ({ params: { name, arguments: args = {} } }, context) => {
    const fixture = fixtures[name]
    if (fixture === undefined) throw new ProtocolError(-32602, `There is no tool ${name}`)
    const around: Around = {
      capabilities: () =>
        (context.mcpReq.envelope as Record<string, object> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ??
        server.getClientCapabilities() ??
        {},
      async changed(what) {
        tell(what)
        await (what === 'tools' ? server.sendToolListChanged() : server.sendPromptListChanged())
      },
    }
    return fixture.call(args, context, around)
  })
  server.setRequestHandler('resources/list', () => ({ resources }))
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
  }))
  server.setRequestHandler('resources/read', ({ params: { uri } }) => read(uri))
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    setTimeout(() => void server.sendResourceUpdated({ uri }).catch(() => {}), 50)
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', () => ({}))
  server.setRequestHandler('prompts/list', () => ({ prompts }))
  server.setRequestHandler('prompts/get', ({ params: { name, arguments: args = {} } }, context) =>
    prompt(name, args, context),
  )
  server.setRequestHandler('completion/complete', ({ params: { argument } }) => ({
    completion: { values: [`${argument.value}-completed`], total: 1, hasMore: false },
  }))
  return server
}

/** For HTTP, without a gateway between: to see that the fixture itself is right. */
export function conformanceHandler() {
  const handler = createMcpHandler(() =>
    build((what) => (what === 'tools' ? handler.notify.toolsChanged() : handler.notify.promptsChanged())),
  )
  return handler
}

if (import.meta.main) serveStdio(() => build(), { legacy: process.env.ERA === 'modern' ? 'reject' : 'serve' })
