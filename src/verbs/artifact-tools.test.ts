/** Artifacts through the verbs: stored for a task, found again, paged, and handed to a script. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type JsonObject, newId } from '#model'
import { openArtifacts } from '#record'
import { caller, openSpace, temporaryFolder, whyNot, workspace } from '#test'
import { minioBucket, whyNoMinio } from '#test/services'

const open = async (t: Parameters<typeof workspace>[0], config: object = {}) =>
  openSpace(workspace(t, { config: { mcpServers: {}, ...config } }))
const code = (text: string) => ({ implementation: { type: 'code', code: text } })
const error = (answer: JsonObject) => answer.error as { code: string; message: string; context: JsonObject }

const owner = `
const { missionID } = await tool('metier:create_mission', { name: 'm' })
const { taskID } = await tool('metier:create_task_node', { parentNodeID: missionID, description: 'd' })`

test('store_artifact, retrieve_artifact and get_artifact_info tell the same of one artifact, and the task is linked', async (t) => {
  const verbs = await open(t)
  const answer = await verbs.execute(
    code(`${owner}
      const stored = await tool('metier:store_artifact',
        { ownerEntityID: taskID, artifactName: 'my report.md', contentType: 'text/markdown', content: 'größer', size: 8 })
      const pages = []
      for (let offset = 0; offset !== null; ) {
        const { artifact } = await tool('metier:retrieve_artifact', { storagePath: stored.storagePath, offset, limit: 3 })
        pages.push(artifact.content)
        offset = artifact.next
      }
      const { artifact } = await tool('metier:get_artifact_info', { artifactID: stored.artifactID })
      const { task } = await tool('metier:get_task_details', { taskID })
      return { stored, pages, artifact, produced: task.producedArtifactIDs }`),
    caller,
  )
  assert.equal(answer.status, 'done', JSON.stringify(answer))
  const { stored, pages, artifact, produced } = answer.result as Record<string, JsonObject>
  const { artifactID, storagePath } = stored as Record<string, string>
  assert.equal(storagePath, `artifacts/${artifactID}/my_report.md`)
  assert.deepEqual(pages, ['gr', 'ö', 'ße', 'r'])
  assert.partialDeepStrictEqual(artifact, { ID: artifactID, Type: 'text/markdown', StoragePath: storagePath, Tags: [] })
  assert.deepEqual(produced, [artifactID])
})

test('store_artifact stores a recorded result, and refuses one that is not there', async (t) => {
  const verbs = await open(t)
  const { run } = await verbs.execute(code(`return { rows: ['a', 'b'], text: 'plain' }`), caller)
  const store = (from: JsonObject) =>
    verbs.execute(
      code(`${owner}
        const { storagePath } = await tool('metier:store_artifact',
          { ownerEntityID: missionID, artifactName: 'r', contentType: 'application/json', from: ${JSON.stringify(from)} })
        return (await tool('metier:retrieve_artifact', { storagePath })).artifact.content`),
      caller,
    )
  assert.equal((await store({ run: run!, path: '/rows' })).result, '["a","b"]')
  assert.equal((await store({ run: run!, path: '/text' })).result, 'plain')
  for (const from of [{ run: run!, path: '/none' }, { run: '01a1ee73-123e-70d9-b8fc-030457d31d4c' }]) {
    const refused = error(await store(from))
    assert.deepEqual([refused.code, refused.context.param], ['INVALID_INPUT_PARAM', 'from'], refused.message)
  }
})

test('store_artifact refuses nothing, and a length that differs, before anything is stored', async (t) => {
  const space = workspace(t, { config: { mcpServers: {} } })
  const verbs = await openSpace(space)
  const cases: [given: JsonObject, param: string][] = [
    [{ content: '' }, 'content'],
    [{ contentBase64: '' }, 'content'],
    [{ content: 'größer', size: 6 }, 'size'],
  ]
  for (const [given, param] of cases) {
    const file = JSON.stringify({ artifactName: 'a', contentType: 'text/plain', ...given })
    const program = `${owner}\nreturn tool('metier:store_artifact', { ownerEntityID: taskID, ...${file} })`
    const refused = error(await verbs.execute(code(program), caller))
    assert.deepEqual([refused.code, refused.context.param], ['INVALID_INPUT_PARAM', param])
  }
  assert.deepEqual(readdirSync(join(space.home, 'artifacts')), [])
})

test('retrieve_artifact lists each code that it can answer with; what is not there is null', async (t) => {
  const verbs = await open(t)
  const ask = async (args: JsonObject) =>
    verbs.execute(code(`return tool('metier:retrieve_artifact', ${JSON.stringify(args)})`), caller)
  const absent = await ask({ storagePath: 'artifacts/01a1ee73-123e-70d9-b8fc-030457d31d4c/a.txt' })
  assert.deepEqual(absent.result, { artifact: null })
  for (const storagePath of [
    '../x',
    '/etc/passwd',
    'artifacts/x/y',
    'other/01a1ee73-123e-70d9-b8fc-030457d31d4c/a',
    'x',
  ])
    assert.equal(error(await ask({ storagePath })).context.param, 'storagePath', storagePath)
  assert.equal(error(await ask({ storagePath: '' })).code, 'MISSING_REQUIRED_PARAM')
})

test('a stored artifact is the input of a script', { skip: whyNot('os') }, async (t) => {
  const verbs = await open(t)
  const answer = await verbs.execute(
    code(`${owner}
      const { storagePath } = await tool('metier:store_artifact',
        { ownerEntityID: taskID, artifactName: 'n.txt', contentType: 'text/plain', content: '40\\n2\\n' })
      const { stdout } = await tool('metier:execute_script_in_sandbox', {
        interpreter: 'python', scriptContent: 'print(sum(int(l) for l in open("/inputs/n.txt")))',
        config: { inputArtifacts: { [storagePath]: '/inputs/n.txt' } } })
      return stdout`),
    caller,
  )
  assert.equal(answer.result, '42\n', JSON.stringify(answer))
})

test('the tools store in the bucket of the configuration, to which a run is bound', {
  skip: whyNoMinio(),
}, async (t) => {
  const { endpoint, bucket, credentials } = await minioBucket('contract')
  const bound = async (url: string) => {
    const space = workspace(t, { config: { mcpServers: {}, artifacts: { url, endpoint, ...credentials } } })
    const verbs = await openSpace(space)
    const answer = await verbs.execute(
      code(`${owner}
        const { storagePath } = await tool('metier:store_artifact',
          { ownerEntityID: taskID, artifactName: 'a.txt', contentType: 'text/plain', content: 'in S3' })
        return { storagePath, read: (await tool('metier:retrieve_artifact', { storagePath })).artifact.content }`),
      caller,
    )
    assert.equal(answer.status, 'done', JSON.stringify(answer))
    assert.deepEqual(readdirSync(join(space.home, 'artifacts')), [])
    const lines = verbs.store.lines(answer.run as string)
    assert.ok('secretAccessKey' in credentials && !lines.join('').includes(credentials.secretAccessKey))
    return {
      ...(answer.result as { storagePath: string; read: string }),
      digest: JSON.parse(lines[0]!).body.servers.metier,
    }
  }
  const url = `s3://${bucket}/tools/${newId()}`
  const [one, same, other] = [await bound(url), await bound(url), await bound(`${url}/below`)]
  assert.equal(one.read, 'in S3')
  assert.match(one.storagePath, /^artifacts\/[^/]+\/a\.txt$/)
  assert.ok(await minioObject(url, one.storagePath))
  assert.equal(one.digest, same.digest)
  assert.notEqual(one.digest, other.digest)

  async function minioObject(at: string, path: string): Promise<boolean> {
    const prefix = at.slice(`s3://${bucket}/`.length)
    const s3 = await minioBucket(bucket)
    return (await openArtifacts({ folder: temporaryFolder(t), s3: { ...s3, prefix } }).get(path)) !== null
  }
})

test('a bucket that is away is a typed error of the tool that may be tried again', async (t) => {
  const place = {
    url: 's3://bucket',
    endpoint: 'http://127.0.0.1:1',
    accessKeyId: 'a',
    secretAccessKey: 'not-to-be-seen',
  }
  const verbs = await open(t, { artifacts: place })
  const answer = await verbs.execute(
    code(`${owner}
      return tool('metier:store_artifact',
        { ownerEntityID: taskID, artifactName: 'a.txt', contentType: 'text/plain', content: 'x' })`),
    caller,
  )
  assert.equal(error(answer).code, 'S3_CONNECTION_ERROR', JSON.stringify(answer))
  assert.ok(
    !verbs.store
      .lines(answer.run as string)
      .join('')
      .includes('not-to-be-seen'),
  )
})
