/** Exactly one well-formed block runs; none is the last word; everything else is a mistake. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readToolCode } from './tool-code.ts'

test('one block runs, whatever stands beside it', () => {
  const reading = readToolCode('I look.\n<tool_code>\nprint(1)\n</tool_code>\nThe answer is 2.')
  assert.deepEqual(reading, { kind: 'tool', thought: 'I look.', code: 'print(1)\n' })
})

test('an answer without tags is the last word', () => {
  assert.deepEqual(readToolCode(' It is 42. '), { kind: 'final', text: 'It is 42.', thought: '', drafts: [] })
})

test('what a model thinks aloud is no part of its last word', () => {
  const reading = readToolCode('<think>6 * 7 is 42, I am sure.</think>\nIt is 42.')
  assert.equal(reading.kind === 'final' && reading.text, 'It is 42.')
})

const mistakes: Record<string, string> = {
  'not complete': '<tool_code>\nprint(1)',
  'wrong order': '</tool_code>print(1)<tool_code>',
  several: '<tool_code>a</tool_code><tool_code>b</tool_code>',
  'not nested': '<tool_code><tool_code>a</tool_code></tool_code>',
  'is not a tag': '<TOOL_CODE>a</TOOL_CODE>',
  '"<tool_code lang="python">" is not': '<tool_code lang="python">a</tool_code>',
  '"<tool_code" is not': 'I begin: <tool_code',
  'stands inside of a code fence': '```\n<tool_code>\na\n</tool_code>\n```',
  'belongs to another protocol': '{"thought_process":"t","next_action":{"type":"exec_and_chain"}}',
  'inside of a code fence: leave': '~~~\n<tool_code>\na\n</tool_code>\n~~~',
  'inside of its block': '<tool_code>\n```python\na\n```\n</tool_code>',
  'is empty': '<tool_code>\n \n</tool_code>',
}

for (const [reason, text] of Object.entries(mistakes)) {
  test(`a mistake: ${reason}`, () => {
    const reading = readToolCode(text)
    assert.equal(reading.kind, 'mistake')
    assert.ok(reading.kind === 'mistake' && reading.reason.includes(reason), JSON.stringify(reading))
  })
}
