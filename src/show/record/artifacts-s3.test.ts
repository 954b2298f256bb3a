/** The commands about artifacts, where these are in S3. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { newId, type S3Config } from '#model'
import { metier, workspace } from '#test'
import { minioBucket, whyNoMinio } from '#test/services'

const environment = ({ credentials }: S3Config) => {
  assert('accessKeyId' in credentials)
  return { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey }
}

async function open(t: TestContext, bucket = 'contract') {
  const s3 = await minioBucket('contract')
  const artifacts = { url: `s3://${bucket}/cli/${newId()}`, endpoint: s3.endpoint }
  const space = workspace(t, { config: { artifacts, mcpServers: {} } })
  const run = (args: string[], input = '') => metier(space, args, { env: environment(s3), input })
  return { space, run, url: artifacts.url }
}

describe('commands with artifacts in S3', { skip: whyNoMinio() }, () => {
  test('artifact put and get, artifacts and audit verify use the bucket', async (t) => {
    const { space, run, url } = await open(t)
    const { id, path } = (await run(['artifact', 'put', '-', '--name', 'a.txt', '--json'], 'hello')).json
    assert.equal(path, `artifacts/${id}/a.txt`)
    for (const which of ['@last', path, id.slice(0, 18)])
      assert.equal((await run(['artifact', 'get', which])).stdout, 'hello')
    assert.equal((await run(['artifacts'])).stdout, `${path}  5 bytes\n`)
    assert.deepEqual(
      (await run(['artifacts', '--json'])).json.map((card: { path: string }) => card.path),
      [path],
    )
    assert.deepEqual(readdirSync(join(space.home, 'artifacts')), [])
    const events = (await run(['audit', 'show', 'home', '--json'])).stdout
    assert.match(events, new RegExp(`"artifact.stored".*"store":"${url}"`))
    const verified = await run(['audit', 'verify', '--json'])
    assert.deepEqual([verified.code, verified.json.ok, verified.json.artifactsNotChecked], [0, true, 1])
    assert.match((await run(['audit', 'verify'])).stdout, /events verify; not checked: 1 artifact in S3/)
    const missing = await run(['artifact', 'get', newId()])
    assert.match(missing.stderr, /there is none/)
  })

  test('doctor says whether the bucket can be reached, and never the secret', async (t) => {
    const checkOf = async (bucket: string) => {
      const { run } = await open(t, bucket)
      const { json, stdout } = await run(['doctor', '--json'])
      assert.ok(!stdout.includes(environment(await minioBucket('contract')).AWS_SECRET_ACCESS_KEY))
      return json.checks.find(({ name }: { name: string }) => name === 'artifacts')
    }
    const good = await checkOf('contract')
    assert.equal(good.ok, true, good.detail)
    const bad = await checkOf('nobodys-bucket')
    assert.equal(bad.ok, false)
    assert.match(bad.detail, /nobodys-bucket.*NoSuchBucket/)
  })

  test('a backup of a home whose artifacts are in S3 verifies without them', async (t) => {
    const { space, run } = await open(t)
    await run(['artifact', 'put', '-'], 'hello')
    const file = join(space.folder, 'copy.db')
    const { code, stderr } = await run(['backup', file])
    assert.equal(code, 0, stderr)
    assert.ok(readFileSync(file).length > 0)
  })
})
