/** Runs as spans, at a collector on this machine. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import type { Event } from '#model'
import { metier, workspace } from '#test'
import { readTelemetry } from './export-spans.ts'
import { traceOf } from './spans.ts'

type Span = { name: string; kind: number; spanId: string; parentSpanId?: string }
type Trace = { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }

test('every run and call is a span where a collector is named', async (t) => {
  const bodies: { path: string; headers: Record<string, unknown>; body: string }[] = []
  const collector = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    bodies.push({ path: request.url!, headers: request.headers, body: Buffer.concat(chunks).toString() })
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  t.after(() => collector.close())
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b',
    OTEL_SERVICE_NAME: 'test',
  }
  const input = `await mcp.fx.read({ key: 'a' }); try { await mcp.fx.flaky({ key: 'b', failures: 9 }) } catch {} return 1`
  const ran = await metier(workspace(t), ['execute', '--code', '-', '--json'], { input, env })
  assert.equal(ran.json.status, 'done', ran.stderr)
  assert.deepEqual(
    bodies.map(({ path, headers }) => [path, headers['x-key']]),
    [['/v1/traces', 'a b']],
  )
  const [{ resource, scopeSpans }] = JSON.parse(bodies[0]!.body).resourceSpans
  assert.deepEqual(resource.attributes, [{ key: 'service.name', value: { stringValue: 'test' } }])
  const { spans } = scopeSpans[0]
  assert.deepEqual(
    spans.map((span: { name: string; status: { code: number } }) => [span.name, span.status.code]),
    [
      ['invoke_workflow execute', 1],
      ['tools/call fx:read', 1],
      ['tools/call fx:flaky', 2],
    ],
  )
  assert.ok(spans.every((span: { traceId: string }) => span.traceId === ran.json.run.replaceAll('-', '')))
  assert.ok(spans.slice(1).every((span: { parentSpanId: string }) => span.parentSpanId === spans[0].spanId))
})

test('traceOf() puts a call below the program that made it, and takes no timer for a call of a tool', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const run = '01a1e732-5ca5-7929-b472-dcdde982c572'
  const calls = ['1', '1.1', '1.2'].map((call, i) => [call, ['metier:program', 'fx:read', 'metier:timer'][i]] as const)
  const bodies = [
    ['run.started', {}],
    ...calls.map(([call, tool]) => ['call.issued', { call, tool }] as const),
    ...calls.map(([call]) => ['call.resolved', { call, attempt: 1, outcome: 'answered', ok: true }] as const),
  ] as const
  const events = bodies.map(([type, body], n) => ({ run, n: n + 1, at, type, body })) as unknown as Event[]
  const { resourceSpans } = traceOf(events, { service: 'test', attributes: {} }) as Trace
  const [root, program, read, timer] = resourceSpans[0]!.scopeSpans[0]!.spans
  const parents = [program, read, timer].map((span) => span!.parentSpanId)
  assert.deepEqual(parents, [root!.spanId, program!.spanId, program!.spanId])
  assert.deepEqual(
    [program, read, timer].map((span) => [span!.name, span!.kind]),
    [
      ['metier:program', 1],
      ['tools/call fx:read', 3],
      ['metier:timer', 1],
    ],
  )
})

test('a collector that cannot be reached is said, and the run is none the worse', async (t) => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' }
  const ran = await metier(workspace(t), ['execute', '--code', '-', '--json'], { input: 'return 2', env })
  assert.deepEqual([ran.code, ran.json.result], [0, 2])
  assert.match(ran.stderr, /Cannot send the spans of run/)
})

test('readTelemetry() follows the variables of OpenTelemetry', () => {
  assert.equal(readTelemetry({}), null)
  assert.equal(readTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_SDK_DISABLED: 'true' }), null)
  assert.deepEqual(readTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a', OTEL_RESOURCE_ATTRIBUTES: 'a=1,b=2' }), {
    endpoint: 'http://a',
    headers: {},
    service: 'metier',
    attributes: { a: '1', b: '2' },
  })
})

test('traceOf() shows a session as an agent that chats with its model', () => {
  const at = '2026-01-01T00:00:00.000Z'
  const run = '01a1e732-5ca5-7929-b472-dcdde982c572'
  const value = { text: 'x', usage: { inputTokens: 7, outputTokens: 3, costUsd: null } }
  const bodies = [
    ['run.started', {}],
    ['call.issued', { call: '1', tool: 'model:compatible:small@http://127.0.0.1:1/v1' }],
    ['call.resolved', { call: '1', attempt: 1, outcome: 'answered', ok: true, value }],
  ] as const
  const events = bodies.map(([type, body], index) => ({ run, n: index + 1, at, type, body })) as unknown as Event[]
  const { resourceSpans } = traceOf(events, { service: 'test', attributes: {} }) as Trace
  const [root, chat] = resourceSpans[0]!.scopeSpans[0]!.spans as (Span & { attributes: { key: string }[] })[]
  assert.deepEqual([root!.name, chat!.name], ['invoke_agent metier', 'chat small@http://127.0.0.1:1/v1'])
  assert.deepEqual(
    chat!.attributes.filter(({ key }) => key.startsWith('gen_ai.')),
    [
      { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
      { key: 'gen_ai.provider.name', value: { stringValue: 'compatible' } },
      { key: 'gen_ai.request.model', value: { stringValue: 'small@http://127.0.0.1:1/v1' } },
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '7' } },
      { key: 'gen_ai.usage.output_tokens', value: { intValue: '3' } },
    ],
  )
})
