/** What a human typed, as hosts bring it back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEditedArguments } from './edited-arguments.ts'

const args = { path: '/tmp/a b', text: 'one\ntwo 😀' }
const shown = JSON.stringify(args)
const read = (given: string) => parseEditedArguments(args, shown, given)

test('editedArguments() takes text that says the same as unchanged, however its host damaged it', () => {
  const pretty = JSON.stringify(args, null, 2)
  for (const given of [
    shown,
    pretty,
    pretty.replaceAll('\n', '\u{fffd}'),
    pretty.replaceAll('\n', ''),
    shown.replace('😀', '\u{fffd}'),
    shown.replace('😀', '\u{fffd}\u{fffd}'),
    shown.replace(' 😀', '\n😀'),
    `  ${shown}\n`,
  ])
    assert.deepEqual(read(given), {}, given)
})

test('editedArguments() takes every other value as a change, also that of one space inside a text', () => {
  assert.deepEqual(read('{"path":"/tmp/ab","text":"one\\ntwo 😀"}'), {
    args: { path: '/tmp/ab', text: 'one\ntwo 😀' },
  })
  assert.deepEqual(read('[1]'), { args: [1] })
})

test('editedArguments() refuses what is neither JSON nor the damaged default', () => {
  assert.throws(() => read('{"path"'), /they are not JSON/)
  assert.throws(() => read(''), /they are not JSON/)
  assert.throws(() => read(shown.replace('/tmp', '\u{fffd}\u{fffd}etc')), /the host replaced characters/)
  assert.throws(() => read(shown.replace('a b', '\u{fffd}\u{fffd}x')), /the host replaced characters/)
  assert.throws(() => read('\u{fffd}'), /the host replaced characters/)
})

test('editedArguments() keeps a replacement character that was there before', () => {
  const odd = { key: 'a\u{fffd}b' }
  const text = JSON.stringify(odd)
  assert.deepEqual(parseEditedArguments(odd, text, text), {})
  assert.deepEqual(parseEditedArguments(odd, text, text.replace('a', 'c')), { args: { key: 'c\u{fffd}b' } })
})

test('editedArguments() is done at once with a long text of replacements', () => {
  const long = JSON.stringify({ key: 'a'.repeat(4000) })
  const given = long.replaceAll('a', 'a\u{fffd}').slice(0, 4000)
  assert.throws(() => parseEditedArguments({ key: '' }, long, given))
})
