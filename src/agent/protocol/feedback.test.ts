/** What the model is told, word for word; what is long is told by its ends and its place. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '#model'
import { bounded, reboundFeedback, toolFeedback, toolOutput } from './feedback.ts'

test('the output of a tool and its feedback are in the words of the specification', () => {
  const output = toolOutput({ returncode: 'timeout', stdout: 'a\n', stderr: '' })
  assert.equal(output, 'returncode: timeout\n\n[STDOUT]\na\n\n[STDERR]\n\n')
  assert.equal(toolFeedback(output, 'p'), `System: Tool executed. Artifacts saved. Output:\n${output}`)
})

test('a rebound shows the continuation prompt before the evidence', () => {
  const told = reboundFeedback('Look.', { returncode: 3, stdout: 'out', stderr: 'err' }, '4')
  assert.equal(told, 'Look.\n\n[RETURN CODE] 3\n[STDOUT]\nout\n[STDERR]\nerr')
})

test('long output is told by its head and tail, with the place of the rest', () => {
  const text = `head${'😀'.repeat(limits.feedbackBytesMax)}tail`
  const told = bounded(text, 'in x')
  assert.ok(Buffer.byteLength(told) < limits.feedbackBytesMax)
  assert.match(told, /^head😀[\s\S]*characters left out, all of it is in x[\s\S]*😀tail$/u)
  assert.ok(told.isWellFormed())
})
