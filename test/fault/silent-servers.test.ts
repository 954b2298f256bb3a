/**
 * A Neo4j or an S3 server that is there and says nothing any more, as behind a cut network or a
 * stopped process: whatever uses it ends in time, and goes on when it speaks again. The tests wait
 * for the limits of both at once.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { Readable } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { type ArtifactId, limits, newId } from '#model'
import { openArtifacts } from '#record'
import { createMission, listMissions, openGraphStore, openTaskGraph, type TaskGraph } from '#tasks'
import { metier, temporaryFolder, workspace } from '#test'
import { neo4jAddress, whyNoNeo4j } from '#test/services'

/** Hands on what comes, or holds it back without a word until it is told to go on. */
async function openGate(t: TestContext) {
  const { port, hostname } = new URL(neo4jAddress().url)
  let isSilent = false
  const held: (() => void)[] = []
  const pass = (act: () => void) => (isSilent ? held.push(act) : act())
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => pass(() => to.write(bytes)))
      from.on('close', () => pass(() => to.destroy()))
      from.on('error', () => {})
    }
    t.after(() => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return {
    url: `bolt://127.0.0.1:${(server.address() as AddressInfo).port}`,
    silence() {
      isSilent = true
    },
    speak() {
      isSilent = false
      for (const act of held.splice(0)) act()
    },
  }
}

const call = (signal = AbortSignal.timeout(120_000)) => ({ run: newId(), call: '1', signal })

async function named(graph: TaskGraph, id: string): Promise<number> {
  const all = []
  for (let offset: number | null = 0; offset !== null; ) {
    const page = await listMissions(graph, { limit: 500, offset }, call())
    all.push(...page.missions)
    offset = page.next
  }
  return all.filter(({ name }) => name === id).length
}

describe('silent servers', { concurrency: true }, () => {
  test('a silent Neo4j is lost in time: a call is cancelled at once, a typed error soon, and goes on when it speaks', {
    skip: whyNoNeo4j(),
  }, async (t) => {
    const gate = await openGate(t)
    const address = { ...neo4jAddress(), url: gate.url }
    const store = await openGraphStore(address)
    t.after(() => store.close())
    const graph = openTaskGraph(store)
    const space = workspace(t, { config: { mcpServers: {}, taskGraph: address } })
    // Two connections, so that each of the next two calls finds one that was good.
    await Promise.all([1, 2].map((n) => createMission(graph, { name: `before ${n}` }, call())))

    gate.silence()
    const started = performance.now()
    const terminal = metier(space, ['missions', '--json'])
    const stop = new AbortController()
    setTimeout(() => stop.abort(new Error('stopped')), 200)
    await assert.rejects(createMission(graph, { name: 'stopped' }, call(stop.signal)), { message: 'stopped' })
    assert.ok(performance.now() - started < limits.graphAnswerMsMax / 2, 'it did not stop when it was told to')
    const [name, late] = [newId(), call()]
    const lost = { code: 'NEO4J_CONNECTION_ERROR', fate: 'retry' }
    await assert.rejects(createMission(graph, { name }, late), lost)
    assert.ok(performance.now() - started < 2 * limits.graphAnswerMsMax)
    const { code, json } = await terminal
    assert.deepEqual([code, json.error.code], [4, 'NEO4J_CONNECTION_ERROR'])

    gate.speak()
    const { missionID } = await createMission(graph, { name }, late)
    assert.equal((await createMission(graph, { name }, late)).missionID, missionID)
    assert.equal(await named(graph, name), 1)
  })

  test('a Neo4j that is not there is a typed error that may be tried again', async (t) => {
    const store = await openGraphStore({ url: 'bolt://127.0.0.1:1', user: 'neo4j', password: 'x', database: 'neo4j' })
    t.after(() => store.close())
    const lost = { code: 'NEO4J_CONNECTION_ERROR', fate: 'retry' }
    await assert.rejects(createMission(openTaskGraph(store), { name: 'm' }, call()), lost)
  })

  test('a silent S3 server is S3_CONNECTION_ERROR before a call would have to be given up', async (t) => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    t.after(() => silent.close())
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
    const place = { endpoint, region: 'us-east-1', bucket: 'bucket', prefix: '', forcePathStyle: true }
    const artifacts = openArtifacts({ folder: temporaryFolder(t), s3: { ...place, credentials, maxBytes: 1000 } })
    const content = Readable.from([Buffer.from('hello')])
    const input = { owner: newId(), name: 'a.txt', type: 'text/plain', bytes: 5, content }
    const [id, started] = [newId<ArtifactId>(), performance.now()]
    const lost = { code: 'S3_CONNECTION_ERROR', fate: 'retry', message: /is silent for \d+ ms|no answer within \d+ ms/ }
    const path = `artifacts/${id}/a.txt`
    const asked = [artifacts.put(input), artifacts.get(id), artifacts.get(path), artifacts.list()]
    await Promise.all(asked.map((one) => assert.rejects(one, lost)))
    const ms = performance.now() - started
    assert.ok(ms < limits.callTimeoutMsDefault * 0.8, `${ms} ms`)
  })
})
