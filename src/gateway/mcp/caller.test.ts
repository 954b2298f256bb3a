/**
 * The trace that a request stands in, as it comes over HTTP: in a header or in `_meta`, in both
 * eras.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { serveHttp } from '#gateway'
import type { JsonObject } from '#model'
import { openSpace, workspace } from '#test'

const inHeader = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const inMeta = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

async function open(t: TestContext, mode: 'auto' | 'legacy') {
  const verbs = await openSpace(workspace(t))
  const gateway = await serveHttp({ verbs, host: '127.0.0.1', port: 0, version: '1', log: () => {} })
  t.after(async () => {
    await gateway.close()
    await verbs.close()
  })
  /** The trace that the run of one request was recorded with. */
  return async (header: string | undefined, meta: string | undefined): Promise<unknown> => {
    const client = new Client({ name: 'host', version: '1' }, { versionNegotiation: { mode } })
    const headers = header === undefined ? {} : { traceparent: header }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers } }))
    const input = { implementation: { type: 'code', code: 'return 1' } }
    const _meta = meta === undefined ? {} : { _meta: { traceparent: meta } }
    const { structuredContent } = await client.callTool({ name: 'execute', arguments: input, ..._meta })
    await client.close()
    const [started] = verbs.eventsOf((structuredContent as { run: never }).run)
    return (started!.body as JsonObject).traceparent
  }
}

for (const mode of ['auto', 'legacy'] as const) {
  test(`a run stands in the trace of its request, from the header or from _meta, which is nearer (${mode})`, async (t) => {
    const traceOf = await open(t, mode)
    assert.equal(await traceOf(undefined, undefined), undefined)
    assert.equal(await traceOf(inHeader, undefined), inHeader)
    assert.equal(await traceOf(undefined, inMeta), inMeta)
    assert.equal(await traceOf(inHeader, inMeta), inMeta)
    assert.equal(await traceOf(inHeader, 'no trace at all'), inHeader, 'what cannot be read is as if it were not there')
    assert.equal(await traceOf('00-00000000000000000000000000000000-0000000000000000-01', undefined), undefined)
  })
}
