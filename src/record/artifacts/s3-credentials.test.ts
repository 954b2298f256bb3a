/** Keys for S3 from the places of AWS's own tools, in their order. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { AwsChain } from '#model'
import { temporaryFolder } from '#test'
import { openKeys } from './s3-credentials.ts'

/** A machine on which nothing hands out keys. */
function machine(t: TestContext): AwsChain & { folder: string } {
  const folder = temporaryFolder(t)
  const files = { credentials: join(folder, 'credentials'), config: join(folder, 'config') }
  return { folder, files, profile: 'default', webIdentity: null, container: null, metadata: null }
}

const profile = (name: string, key: string) =>
  `[${name}]\n# a comment\naws_access_key_id=${key}\naws_secret_access_key = s=cret \n`

test('openKeys() reads the profile that is asked for, again for each request', async (t) => {
  const { folder: _, ...chain } = machine(t)
  const { credentials, config } = chain.files
  writeFileSync(credentials, `${profile('default', 'A')}\n${profile(' work ', 'B')}aws_session_token = T\r\n`)
  writeFileSync(config, profile('profile other', 'D'))
  const keys = openKeys(chain)
  assert.deepEqual(await keys(), { accessKeyId: 'A', secretAccessKey: 's=cret' })
  const work = await openKeys({ ...chain, profile: 'work' })()
  assert.deepEqual(work, { accessKeyId: 'B', secretAccessKey: 's=cret', sessionToken: 'T' })
  assert.equal((await openKeys({ ...chain, profile: 'other' })()).accessKeyId, 'D')
  writeFileSync(credentials, profile('default', 'C'))
  assert.equal((await keys()).accessKeyId, 'C')
})

test('openKeys() says where it looked for keys that are not there', async (t) => {
  const { folder: _, ...chain } = machine(t)
  const { credentials } = chain.files
  const denied = { code: 'S3_ACCESS_DENIED', message: new RegExp(credentials) }
  await assert.rejects(openKeys(chain)(), denied)
  writeFileSync(credentials, '[default]\naws_access_key_id = A\n')
  await assert.rejects(openKeys(chain)(), denied)
})

test('openKeys() runs the program of a profile, and shows nothing of what it prints', async (t) => {
  const { folder, ...chain } = machine(t)
  const says = (text: string) => {
    writeFileSync(join(folder, 'says'), text)
    writeFileSync(chain.files.config, `[default]\ncredential_process = cat ${join(folder, 'says')}\n`)
    return openKeys(chain)
  }
  const keys = says('{"Version":1,"AccessKeyId":"P","SecretAccessKey":"s","SessionToken":"t"}')
  assert.deepEqual(await keys(), { accessKeyId: 'P', secretAccessKey: 's', sessionToken: 't' })
  for (const text of ['hush-hush', '{"SecretAccessKey":"hush-hush"}'])
    await assert.rejects(says(text)(), (error: Error) => {
      assert.match(String(error), /S3_ACCESS_DENIED.*credential_process of the profile "default" fails/)
      assert.doesNotMatch(String(error), /hush/)
      return true
    })
})

type BucketRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'> & { body: string }

/** What a cloud's own service would answer, by method and path; `asked` is what came. */
async function service(t: TestContext, answers: Record<string, string>) {
  const asked: BucketRequest[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    const { method, url, headers } = request
    asked.push({ method, url, headers, body })
    const answer = answers[`${method} ${url}`]
    response.writeHead(answer === undefined ? 404 : 200).end(answer ?? 'hush-hush')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, answers }
}

const handedOut = (key: string, until: number) =>
  JSON.stringify({ AccessKeyId: key, SecretAccessKey: 's', Token: 't', Expiration: new Date(until).toISOString() })
const hour = 3_600_000

test('openKeys() asks the agent of a container with its token, and again before the keys end', async (t) => {
  const { folder, ...chain } = machine(t)
  let now = Date.now()
  const { url, asked, answers } = await service(t, { 'GET /keys': handedOut('ONE', now + hour) })
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, 'Bearer of it\n')
  const container = { url: `${url}/keys`, token: null, tokenFile }
  const keys = openKeys({ ...chain, container }, () => now)
  const expected = { accessKeyId: 'ONE', secretAccessKey: 's', sessionToken: 't' }
  assert.deepEqual(await Promise.all([keys(), keys(), keys()]), [expected, expected, expected])
  assert.deepEqual(
    asked.map(({ headers }) => headers.authorization),
    ['Bearer of it'],
  )
  now += hour - 4 * 60_000
  answers['GET /keys'] = handedOut('TWO', now + hour)
  assert.equal((await keys()).accessKeyId, 'TWO')
  delete answers['GET /keys']
  now += hour - 4 * 60_000
  assert.equal((await keys()).accessKeyId, 'TWO', 'they hold for four minutes more')
  now += 5 * 60_000
  await assert.rejects(keys(), { code: 'AccessDenied', message: /answers 404$/ })
  answers['GET /keys'] = 'hush-hush'
  await assert.rejects(keys(), { code: 'AccessDenied', message: /the answer is no JSON$/ })
  assert.equal(
    (await openKeys({ ...chain, container: { ...container, url: 'https://127.0.0.1:1/' } })().catch((e) => e)).code,
    'ConnectionLost',
  )
  const elsewhere = openKeys({ ...chain, container: { ...container, url: 'http://10.0.0.1/keys' } })
  await assert.rejects(elsewhere(), { code: 'AccessDenied', message: /neither https nor of this machine/ })
})

test('openKeys() exchanges the token of a cluster for keys', async (t) => {
  const { folder, ...chain } = machine(t)
  const until = new Date(Date.now() + hour).toISOString()
  const xml = `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>W</AccessKeyId>
<SecretAccessKey>a&amp;b</SecretAccessKey><SessionToken>t</SessionToken><Expiration>${until}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`
  const { url, asked } = await service(t, { 'POST /': xml })
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, 'of the cluster\n')
  const webIdentity = { endpoint: url, role: 'arn:aws:iam::1:role/r', session: 'metier', tokenFile }
  const keys = await openKeys({ ...chain, webIdentity })()
  assert.deepEqual(keys, { accessKeyId: 'W', secretAccessKey: 'a&b', sessionToken: 't' })
  const sent = Object.fromEntries(new URLSearchParams(asked[0]!.body))
  assert.deepEqual(sent, {
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: webIdentity.role,
    RoleSessionName: 'metier',
    WebIdentityToken: 'of the cluster',
  })
  const gone = openKeys({ ...chain, webIdentity: { ...webIdentity, tokenFile: join(folder, 'none') } })
  await assert.rejects(gone(), { code: 'AccessDenied' })
})

test('openKeys() asks the metadata service for the role of the machine, last of all', async (t) => {
  const { folder: _, ...chain } = machine(t)
  const roles = '/latest/meta-data/iam/security-credentials/'
  const { url, asked } = await service(t, {
    'PUT /latest/api/token': 'session',
    [`GET ${roles}`]: 'the-role\n',
    [`GET ${roles}the-role`]: handedOut('M', Date.now() + hour),
  })
  assert.equal((await openKeys({ ...chain, metadata: url })()).accessKeyId, 'M')
  assert.deepEqual(
    asked.map(({ headers }) => headers['x-aws-ec2-metadata-token']),
    [undefined, 'session', 'session'],
  )
  writeFileSync(chain.files.credentials, profile('default', 'A'))
  assert.equal((await openKeys({ ...chain, metadata: url })()).accessKeyId, 'A')
  writeFileSync(chain.files.credentials, '')
  const nobody = openKeys({ ...chain, metadata: 'http://127.0.0.1:1' })
  await assert.rejects(nobody(), { code: 'S3_ACCESS_DENIED', message: /no role of this machine is known/ })
})
