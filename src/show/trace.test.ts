/** The spans of a run that was asked for in a trace stand in that trace. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Event, type RunId, spanIdOf } from '#model'
import { openSpace, workspace } from '#test'
import { traceOf } from './spans.ts'

type Spans = { resourceSpans: { scopeSpans: { spans: Record<string, string>[] }[] }[] }

test('traceOf() puts a run below the span of its request, and its calls below the run', async (t) => {
  const verbs = await openSpace(workspace(t))
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const implementation = { type: 'code', code: 'return await mcp.fx.read({ key: "a" })' }
  const actor = { kind: 'cli' as const, name: 'test' }
  const { run } = await verbs.execute({ implementation }, { actor, waitMs: null, traceparent })
  const events = verbs.eventsOf(run as RunId) as Event[]
  const { resourceSpans } = traceOf(events, { service: 'test', attributes: {} }) as Spans
  const [root, call] = resourceSpans[0]!.scopeSpans[0]!.spans
  assert.equal(root!.parentSpanId, 'b7ad6b7169203331')
  assert.equal(call!.parentSpanId, root!.spanId)
  assert.deepEqual([root!.traceId, call!.traceId], Array(2).fill('0af7651916cd43dd8448eb211c80319c'))
  assert.equal(call!.spanId, spanIdOf(String(run), '1'))
})
