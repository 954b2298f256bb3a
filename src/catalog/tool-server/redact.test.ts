/** What a server says is told on without our secrets, however it writes them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redact } from './redact.ts'

test('redact() takes a token out of what a server says, as it is or encoded, in values and keys', () => {
  const token = 'token-of-the-login'
  const bytes = Buffer.from(`Bearer ${token}`)
  const forms = [
    token,
    encodeURIComponent(token),
    bytes.toString('base64'),
    bytes.toString('hex'),
    Buffer.from(bytes.toString('base64')).toString('base64'),
    Buffer.from(token, 'utf16le').toString('base64'),
  ]
  for (const form of forms) {
    const said = redact({ [form]: [`it was ${form}`, 1, null] }, [token])
    assert.equal(JSON.stringify(said).match(/«secret»/g)?.length, 2, `${form} became ${JSON.stringify(said)}`)
  }
  assert.deepEqual(redact({ a: ['nothing of it'] }, [token]), { a: ['nothing of it'] })
})
