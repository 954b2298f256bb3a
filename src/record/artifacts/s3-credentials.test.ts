/** Keys for S3 from the file of AWS's own tools. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '#test'
import { keysOf } from './s3-credentials.ts'

test('keysOf() reads the profile that is asked for, again each time', async (t) => {
  const file = join(temporaryFolder(t), 'credentials')
  const profile = (name: string, key: string) =>
    `[${name}]\n# a comment\naws_access_key_id=${key}\naws_secret_access_key = s=cret \n`
  writeFileSync(file, `${profile('default', 'A')}\n${profile(' work ', 'B')}aws_session_token = T\r\n`)
  assert.deepEqual(await keysOf({ file, profile: 'default' }), { accessKeyId: 'A', secretAccessKey: 's=cret' })
  assert.deepEqual(await keysOf({ file, profile: 'work' }), {
    accessKeyId: 'B',
    secretAccessKey: 's=cret',
    sessionToken: 'T',
  })
  writeFileSync(file, profile('default', 'C'))
  assert.equal((await keysOf({ file, profile: 'default' })).accessKeyId, 'C')
})

test('keysOf() says where it looked for keys that are not there', async (t) => {
  const file = join(temporaryFolder(t), 'credentials')
  const denied = { code: 'S3_ACCESS_DENIED', message: new RegExp(file) }
  await assert.rejects(keysOf({ file, profile: 'default' }), denied)
  writeFileSync(file, '[default]\naws_access_key_id = A\n')
  await assert.rejects(keysOf({ file, profile: 'default' }), denied)
})
