/**
 * The conformance suite through the gateway: a server of ours that has what the suite asks for
 * stands behind it, passed through whole.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { root, type Served, serve, temporaryFolder, workspace } from '#test'
import { type Baseline, missing, type Revision, runSuite, unjustified } from './suite.ts'

const fixture = join(root, 'test', 'servers', 'conformance.ts')

/** The fixture as a server of each era. */
function passedThrough(t: TestContext): Promise<Served> {
  const space = workspace(t)
  const server = (era: string) => ({ command: process.execPath, args: [fixture], env: { ERA: era } })
  const mcpServers = { modern: server('modern'), legacy: server('legacy') }
  writeFileSync(space.file, JSON.stringify({ mcpServers, policy: { permissions: 'privileged' } }))
  return serve(t, space)
}

/**
 * The suite gives an answer less time than a server may need to start: so it runs already, for each
 * kind of client.
 */
async function warm(url: string): Promise<void> {
  const kinds = [{}, { elicitation: {} }, { sampling: {} }, { elicitation: {}, sampling: {}, roots: {} }]
  for (const capabilities of kinds) {
    const client = new Client(
      { name: 'warm', version: '1.0.0' },
      { capabilities, versionNegotiation: { mode: 'auto' } },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    await client.listPrompts()
    await client.close()
  }
}

/** Whatever era the host speaks, and whatever era the server. */
const pairs: { revision: Revision; upstream: 'modern' | 'legacy'; baseline?: Baseline }[] = [
  { revision: '2026-07-28', upstream: 'modern' },
  { revision: '2025-11-25', upstream: 'legacy' },
  { revision: '2025-11-25', upstream: 'modern' },
  { revision: '2026-07-28', upstream: 'legacy', baseline: '2026-07-28-legacy' },
]

for (const { revision, upstream, baseline = revision } of pairs) {
  test(`a ${upstream} server conforms to ${revision} through the gateway`, { skip: missing }, async (t) => {
    assert.deepEqual(unjustified(baseline), [], 'every expected failure says why')
    const gateway = await passedThrough(t)
    const url = `${gateway.url}/mcp/${upstream}`
    const around = { baseline, warm: () => warm(url) }
    const { code, output, counts } = await runSuite('server', revision, ['--url', url], temporaryFolder(t), around)
    t.diagnostic(`counted: server ${revision}, ${upstream} upstream: ${counts}`)
    assert.equal(code, 0, output)
    assert.equal(await gateway.stop(), 0)
  })
}
