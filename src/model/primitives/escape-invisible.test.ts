/** Tests of text that is shown to people who decide by it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { escapeInvisible } from '#model'

test('escapeInvisible() shows what is invisible or turns the text around, and leaves the rest', () => {
  assert.equal(escapeInvisible('pay\u202e001\u2066 to \u200bada\u0007'), 'pay\\u202e001\\u2066 to \\u200bada\\u0007')
  assert.equal(
    escapeInvisible('\u{e0041}\ud800'),
    '\\udb40\\udc41\\ud800',
    'also tags beyond the first plane, and half a character',
  )
  assert.equal(escapeInvisible('Zażółć\n日本 👩‍💻'.normalize()), 'Zażółć\n日本 👩\\u200d💻')
})

test('escapeInvisible() of JSON text is JSON text of the same value', () => {
  const value = { 'a\u202eb': ['\u0000', '\u2028', 'x\ty'] }
  const text = escapeInvisible(JSON.stringify(value, null, 2))
  assert.deepEqual(JSON.parse(text), value)
  assert.ok(!text.includes('\u202e'))
})
