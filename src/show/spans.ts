/**
 * A run as OpenTelemetry spans, read from its record: one for the run, in the trace that it was
 * asked for in, one for each call.
 */
import { type Event, parseTraceparent, programTool, type RunId, sessionServers, spanIdOf, timerTool } from '#model'

export type Telemetry = {
  endpoint: string
  headers: Record<string, string>
  service: string
  attributes: Record<string, string>
}

type Value = { stringValue: string } | { intValue: string } | { boolValue: boolean }
type Attribute = { key: string; value: Value }
type Span = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
  events?: { timeUnixNano: string; name: string; attributes: Attribute[] }[]
  status: { code: number; message?: string }
}

const [internal, client] = [1, 3]
const [ok, failed] = [1, 2]

/** The whole of one run, in the JSON form of OTLP. */
export function traceOf(events: Event[], { service, attributes }: Pick<Telemetry, 'service' | 'attributes'>): object {
  const resource = { attributes: attributesOf({ 'service.name': service, ...attributes }) }
  const scopeSpans = [{ scope: { name: 'metier' }, spans: spansOf(events) }]
  return { resourceSpans: [{ resource, scopeSpans }] }
}

function spansOf(events: Event[]): Span[] {
  const first = events[0]
  if (first?.type !== 'run.started') return []
  const run = first.run as RunId
  const root = rootSpan(run, events)
  return [root, ...callSpans(root, run, events)]
}

function rootSpan(run: RunId, events: Event[]): Span {
  const first = events[0] as Event<'run.started'>
  const last = events.at(-1)!
  const end = last.type === 'run.finished' ? last.body : null
  const asked = parseTraceparent(first.body.traceparent)
  return {
    traceId: asked?.trace ?? traceId(run),
    spanId: spanIdOf(run),
    ...(asked && { parentSpanId: asked.parent }),
    name: isSession(events) ? 'invoke_agent metier' : 'invoke_workflow execute',
    kind: internal,
    startTimeUnixNano: nanoseconds(first.at),
    endTimeUnixNano: nanoseconds(last.at),
    attributes: attributesOf({
      'gen_ai.operation.name': isSession(events) ? 'invoke_agent' : 'invoke_workflow',
      'metier.run': run,
      'metier.status': end?.status ?? 'suspended',
      'metier.calls': end?.callCount ?? 0,
      ...(end?.error === undefined ? {} : { 'error.type': end.error.code }),
    }),
    ...tracedEvents(events),
    status: statusOf(end?.error),
  }
}

/** Only the agent's own loop can ask a model. */
function isSession(events: Event[]): boolean {
  return events.some(({ type, body }) => type === 'call.issued' && isModelCall((body as { tool: string }).tool))
}

function isModelCall(tool: string): boolean {
  return tool.startsWith(`${sessionServers[0]}:`)
}

/** Pure operations take no time of their own: they are moments of the run. */
function tracedEvents(events: Event[]): Pick<Span, 'events'> {
  const traced = events.filter((event) => event.type === 'code.traced')
  if (traced.length === 0) return {}
  return {
    events: traced.map(({ at, body: { operations } }) => ({
      timeUnixNano: nanoseconds(at),
      name: 'code.traced',
      attributes: attributesOf({ 'metier.operations': operations.join(' ') }),
    })),
  }
}

/** A call lasts from its last try to its result: what waited for a human is not the tool's time. */
function callSpans(root: Span, run: RunId, events: Event[]): Span[] {
  const issued = new Map<string, { tool: string; at: string }>()
  const spans: Span[] = []
  for (const event of events) {
    if (event.type === 'call.issued') issued.set(event.body.call, { tool: event.body.tool, at: event.at })
    else if (event.type === 'call.sent') issued.get(event.body.call)!.at = event.at
    else if (event.type === 'call.resolved') {
      const { tool, at } = issued.get(event.body.call)!
      spans.push(callSpan(root, run, event, tool, at))
    }
  }
  return spans
}

/**
 * `3.1` is a call of the program that runs as call 3. Timers and programs are the engine's own: no
 * server is asked.
 */
function callSpan(root: Span, run: RunId, { at, body }: Event<'call.resolved'>, tool: string, began: string): Span {
  const above = body.call.slice(0, Math.max(0, body.call.lastIndexOf('.')))
  const isOurs = tool === timerTool || tool === programTool
  return {
    traceId: root.traceId,
    spanId: spanIdOf(run, body.call),
    parentSpanId: above === '' ? root.spanId : spanIdOf(run, above),
    name: isModelCall(tool) ? `chat ${modelOf(tool).name}` : isOurs ? tool : `tools/call ${tool}`,
    kind: isOurs ? internal : client,
    startTimeUnixNano: nanoseconds(began),
    endTimeUnixNano: nanoseconds(at),
    attributes: attributesOf({
      ...(isModelCall(tool) ? chatAttributes(tool, body) : toolAttributes(tool, body.call, isOurs)),
      'metier.outcome': body.outcome,
      'metier.attempt': body.attempt,
      ...(body.error === undefined
        ? {}
        : { 'error.type': body.error.code === 'TOOL_ERROR' ? 'tool_error' : body.error.code }),
    }),
    status: statusOf(body.error),
  }
}

function toolAttributes(tool: string, call: string, isOurs: boolean): Record<string, string> {
  return {
    ...(isOurs ? {} : { 'mcp.method.name': 'tools/call' }),
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': tool,
    'gen_ai.tool.call.id': call,
  }
}

/** Tokens are left out where the answer stands outside of its event, or does not say. */
function chatAttributes(tool: string, { value }: Event<'call.resolved'>['body']): Record<string, string | number> {
  const { provider, name } = modelOf(tool)
  const { inputTokens, outputTokens } = (value as { usage?: Record<string, number | null> } | undefined)?.usage ?? {}
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': provider,
    'gen_ai.request.model': name,
    ...(typeof inputTokens === 'number' && { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(typeof outputTokens === 'number' && { 'gen_ai.usage.output_tokens': outputTokens }),
  }
}

/** `model:PROVIDER:NAME`. */
function modelOf(tool: string): { provider: string; name: string } {
  const [, provider = '', ...name] = tool.split(':')
  return { provider, name: name.join(':') }
}

function statusOf(error: { message: string } | undefined): Span['status'] {
  return error === undefined ? { code: ok } : { code: failed, message: error.message }
}

function traceId(run: RunId): string {
  return run.replaceAll('-', '')
}

function nanoseconds(at: string): string {
  return `${Date.parse(at)}000000`
}

function attributesOf(values: Record<string, string | number | boolean>): Attribute[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }))
}

function anyValue(value: string | number | boolean): Value {
  if (typeof value === 'string') return { stringValue: value }
  return typeof value === 'number' ? { intValue: String(value) } : { boolValue: value }
}
