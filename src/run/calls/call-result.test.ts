/** What a result leaves in the record. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError, limits, RawJson, type RunId } from '#model'
import { resultMember } from './call-result.ts'

const call = { id: '1', tool: 'fx:read', attempt: 1 }
const secrets = { hide: (value: unknown) => value } as never
const keeping = { secrets, chain: { run: 'r' as RunId }, plan: 'dag' as const }

test('resultMember() keeps an answer as it came, of a result and of an error', () => {
  const done = resultMember(call, { ok: true, value: 1, answer: { result: { content: [] } } }, keeping)
  assert.equal(done.answer?.text, '{"result":{"content":[]}}')
  const error = new AppError('TOOL_ERROR', 'no', { tool: 'fx:read' })
  const failed = resultMember(call, { ok: false, error, answer: { error: { code: 1 } } }, keeping)
  assert.equal(failed.answer?.text, '{"error":{"code":1}}')
  assert.equal(resultMember(call, { ok: true, value: 1 }, keeping).answer, undefined)
})

test('resultMember() leaves out an answer that is too large to be kept, and keeps the value', () => {
  const answer = { result: { content: 'x'.repeat(limits.blobBytesMax) } }
  const kept = resultMember(call, { ok: true, value: 1, answer }, keeping)
  assert.deepEqual({ ...kept }, { ok: true, value: new RawJson('1'), bytes: 1 })
})

test('resultMember() cuts an error to what everybody can read, and keeps the whole of it beside', () => {
  const said = `Cannot complete "fx:read": ${'é'.repeat(3_000_000)}`
  const { ok, error, value } = resultMember(call, { ok: false, error: new AppError('TOOL_ERROR', said, {}) }, keeping)
  assert.equal(ok, false)
  assert.match(error!.message, /^Cannot complete "fx:read": é+ … and 2991835 characters more; page them with result$/)
  assert.ok(Buffer.byteLength(JSON.stringify(error)) < limits.eventValueBytesMax)
  assert.equal(JSON.parse(value!.text), said)
  const endless = new AppError('TOOL_ERROR', 'x'.repeat(limits.blobBytesMax), {})
  assert.equal(resultMember(call, { ok: false, error: endless }, keeping).value, undefined)
})
