/** The sweep at the start of a gateway: what it removes, and above all what it must leave. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { type ArtifactId, type JsonObject, limits, newId, type S3Config } from '#model'
import { type Artifacts, openArtifacts } from '#record'
import { caller, openSpace, temporaryFolder, workspace } from '#test'
import { minioBucket, whyNoMinio } from '#test/services'
import { sweepArtifacts } from './sweep-artifacts.ts'

const tomorrow = () => new Date(Date.now() + limits.artifactUnclaimedMsMax + 60_000)
const { signal } = new AbortController()

const storing = `
const { missionID } = await tool('metier:create_mission', { name: 'm' })
return tool('metier:store_artifact',
  { ownerEntityID: missionID, artifactName: 'a.txt', contentType: 'text/plain', content: 'kept' })`

const placeOf = (s3: S3Config) => {
  assert('accessKeyId' in s3.credentials)
  const { endpoint, bucket, credentials } = s3
  return { url: `s3://${bucket}/sweep/${newId()}`, endpoint, ...credentials }
}

async function open(t: TestContext, artifacts: object | 'dir') {
  const space = workspace(t, { config: { mcpServers: {}, artifacts } })
  const verbs = await openSpace(space)
  const execute = (text: string) => verbs.execute({ implementation: { type: 'code', code: text } }, caller)
  return { verbs, execute, folder: join(space.home, 'artifacts') }
}

function put(artifacts: Artifacts, run?: string): Promise<{ id: string; path: string }> {
  const content = Readable.from([Buffer.from('lost')])
  const id = newId<ArtifactId>()
  const whose = { owner: newId(), ...(run !== undefined && { run }) }
  return artifacts.put({ id, ...whose, name: 'a.txt', type: 'text/plain', bytes: 4, content })
}

async function check(t: TestContext, place: object | 'dir', artifactsIn: (folder: string) => Artifacts): Promise<void> {
  const { verbs, execute, folder } = await open(t, place)
  const { store, taskGraph } = verbs
  const artifacts = artifactsIn(folder)
  const done = await execute(storing)
  assert.equal(done.status, 'done', JSON.stringify(done))
  const { storagePath } = done.result as JsonObject
  const lost = await put(artifacts, done.run as string)
  const others = [await put(artifacts), await put(artifacts, newId())]
  const swept = (graph = taskGraph) => ({ store, artifacts, taskGraph: graph })
  assert.deepEqual(await sweepArtifacts(swept(), signal), [], 'what is younger than a day stays')
  // Another graph, as after a change of the configuration: the record of the run still names it.
  const empty = { ...taskGraph, hasArtifact: async () => false }
  assert.deepEqual(await sweepArtifacts(swept(empty), signal, tomorrow()), [lost.path])
  const left = (await artifacts.list()).map(({ path }) => path)
  assert.deepEqual(left.sort(), [storagePath, ...others.map(({ path }) => path)].sort())
  const node = await put(artifacts, done.run as string)
  const graph = { ...taskGraph, hasArtifact: async (id: string) => id === node.id }
  assert.deepEqual(await sweepArtifacts(swept(graph), signal, tomorrow()), [], 'what has a node stays')
}

test('sweepArtifacts() removes from a folder what neither a finished run nor the graph knows, and nothing else', (t) =>
  check(t, 'dir', (folder) => openArtifacts({ folder })))

test('sweepArtifacts() does the same in a bucket', { skip: whyNoMinio() }, async (t) => {
  const s3 = await minioBucket('contract')
  const place = placeOf(s3)
  const prefix = place.url.slice(`s3://${s3.bucket}/`.length)
  await check(t, place, () => openArtifacts({ folder: temporaryFolder(t), s3: { ...s3, prefix } }))
})

test('sweepArtifacts() leaves what a run that is not finished may still store again', async (t) => {
  const { verbs, execute, folder } = await open(t, 'dir')
  const artifacts = openArtifacts({ folder })
  const { store, taskGraph } = verbs
  const { run } = await execute('return 1')
  const { id } = await put(artifacts, run as string)
  const waiting = { ...store, run: (one: never) => ({ ...store.run(one)!, status: 'uncertain' as const }) }
  assert.deepEqual(await sweepArtifacts({ store: waiting, artifacts, taskGraph }, signal, tomorrow()), [])
  assert.ok(await artifacts.get(id))
})

test('sweepArtifacts() removes halves that a killed process left in the folder a day ago', async (t) => {
  const { verbs, folder } = await open(t, 'dir')
  const names = [`.${newId()}.new`, `.${newId()}.new`]
  for (const name of names) mkdirSync(join(folder, name))
  const old = new Date(Date.now() - limits.artifactUnclaimedMsMax - 60_000)
  utimesSync(join(folder, names[0]!), old, old)
  const { store, taskGraph } = verbs
  await sweepArtifacts({ store, artifacts: openArtifacts({ folder }), taskGraph }, signal)
  assert.deepEqual(readdirSync(folder), [names[1]])
})

test('a gateway sweeps when it starts, and says what it removed', async (t) => {
  const space = workspace(t, { config: { mcpServers: {} } })
  const lines: string[] = []
  const verbs = await openSpace(space, (line) => lines.push(line))
  const folder = join(space.home, 'artifacts')
  const { run } = await verbs.execute({ implementation: { type: 'code', code: 'return 1' } }, caller)
  const { id } = await put(openArtifacts({ folder }), run as string)
  const old = new Date(Date.now() - limits.artifactUnclaimedMsMax - 60_000)
  utimesSync(join(folder, id), old, old)
  const leave = verbs.announceGateway('http://127.0.0.1:1', false)
  while (readdirSync(folder).length > 0) await new Promise((resolve) => setTimeout(resolve, 10))
  while (lines.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  leave()
  assert.match(lines.join('\n'), /^Removed artifacts .*: 1$/)
})
