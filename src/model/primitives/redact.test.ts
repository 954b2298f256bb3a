/** Tests of redaction in a value. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { redactedSecret, redactStrings } from '#model'

test('redactStrings() changes every string, keys too, and leaves the value that it was given alone', () => {
  const value = { 'key sk-1': ['it is sk-1', 1, null, { deep: 'sk-1' }], plain: true }
  const before = structuredClone(value)
  const redact = (text: string) => text.replaceAll('sk-1', redactedSecret)
  assert.deepEqual(redactStrings(value, redact), {
    'key «secret»': ['it is «secret»', 1, null, { deep: '«secret»' }],
    plain: true,
  })
  assert.deepEqual(value, before)
})

test('redactStrings() makes an own member of a key like __proto__', () => {
  const redacted = redactStrings(JSON.parse('{"__proto__":"a"}'), (text) => text)
  assert.equal(JSON.stringify(redacted), '{"__proto__":"a"}')
})
