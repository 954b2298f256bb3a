/** Pins of the error codes with their fates, and of the forms in which others see an error. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { AppError, fates, fromErrorData, isErrorCode, toAppError } from '#model'

test('fates: the 22 codes of AutoAgent and ours, in this order', () => {
  const pinned = [
    ['INVALID_INPUT_PARAM', 'correct'],
    ['MISSING_REQUIRED_PARAM', 'correct'],
    ['NEO4J_NODE_NOT_FOUND', 'give_up'],
    ['NEO4J_RELATIONSHIP_NOT_FOUND', 'give_up'],
    ['NEO4J_CONSTRAINT_VIOLATION', 'give_up'],
    ['NEO4J_QUERY_ERROR', 'correct'],
    ['NEO4J_CONNECTION_ERROR', 'retry'],
    ['NEO4J_TRANSACTION_ERROR', 'retry'],
    ['S3_ARTIFACT_NOT_FOUND', 'give_up'],
    ['S3_ACCESS_DENIED', 'give_up'],
    ['S3_UPLOAD_FAILED', 'retry'],
    ['S3_DOWNLOAD_FAILED', 'retry'],
    ['S3_CONNECTION_ERROR', 'retry'],
    ['S3_SIZE_LIMIT_EXCEEDED', 'correct'],
    ['SANDBOX_INVALID_INTERPRETER', 'correct'],
    ['SANDBOX_TIMEOUT', 'correct'],
    ['SANDBOX_SETUP_FAILED', 'give_up'],
    ['SANDBOX_EXECUTION_FAILED', 'give_up'],
    ['SANDBOX_RESOURCE_LIMIT', 'correct'],
    ['SANDBOX_SCRIPT_ERROR', 'correct'],
    ['TOOL_INTERNAL_ERROR', 'retry'],
    ['PERMISSION_DENIED', 'give_up'],

    ['TOOL_ERROR', 'correct'],
    ['TOOL_NOT_FOUND', 'correct'],
    ['TOOL_CHANGED', 'give_up'],
    ['UPSTREAM_UNREACHABLE', 'retry'],
    ['UPSTREAM_STATE_LOST', 'give_up'],
    ['CALL_TIMEOUT', 'retry'],
    ['APPROVAL_DENIED', 'give_up'],
    ['APPROVAL_EXPIRED', 'retry'],
    ['BUDGET_EXCEEDED', 'correct'],
    ['CANCELLED', 'give_up'],
    ['PLAN_INVALID', 'correct'],
    ['PROGRAM_ERROR', 'correct'],
    ['PROGRAM_STALLED', 'correct'],
    ['REPLAY_MISMATCH', 'give_up'],
    ['RESULT_TOO_LARGE', 'correct'],
    ['RUN_NOT_FOUND', 'correct'],
    ['RUN_OWNED', 'retry'],
    ['RUN_PURGED', 'give_up'],
    ['CONFIG_INVALID', 'correct'],
    ['CONFIG_CHANGED', 'give_up'],
    ['SANDBOX_TIER_DOWNGRADE', 'give_up'],
    ['STORE_FULL', 'retry'],
    ['LEDGER_BROKEN', 'give_up'],
    ['LOGIN_REQUIRED', 'give_up'],
  ]
  assert.deepEqual(Object.entries(fates), pinned)
})

test('String(error) has code and message, then context and cause when there are any', () => {
  const plain = new AppError('RUN_NOT_FOUND', 'Cannot find run "x": it does not exist')
  assert.equal(String(plain), '[RUN_NOT_FOUND] Cannot find run "x": it does not exist')

  const context = new AppError('MISSING_REQUIRED_PARAM', 'Cannot read "a": missing', { param: 'a' })
  assert.equal(String(context), '[MISSING_REQUIRED_PARAM] Cannot read "a": missing (Context: {"param":"a"})')

  const cause = new AppError('STORE_FULL', 'Cannot write: disk full', {}, new Error('ENOSPC'))
  assert.equal(String(cause), '[STORE_FULL] Cannot write: disk full (Caused by: Error: ENOSPC)')

  const both = new AppError('TOOL_ERROR', 'Cannot add: refused', { tool: 'fx:add', by: [1] }, 'it said no')
  assert.equal(
    String(both),
    '[TOOL_ERROR] Cannot add: refused (Context: {"tool":"fx:add","by":[1]}) (Caused by: it said no)',
  )

  const nested = new AppError('TOOL_INTERNAL_ERROR', 'Cannot go on: broken', {}, plain)
  assert.equal(String(nested), `[TOOL_INTERNAL_ERROR] Cannot go on: broken (Caused by: ${plain})`)
})

test('AppError is an Error with its code, context, fate and cause', () => {
  const cause = new Error('below')
  const error = new AppError('CALL_TIMEOUT', 'Cannot call: too slow', { ms: 5 }, cause)
  assert.ok(error instanceof Error)
  assert.equal(error.name, 'AppError')
  assert.equal(error.cause, cause)
  assert.equal(error.fate, 'retry')
  assert.deepEqual(error.context, { ms: 5 })
  assert.equal('cause' in new AppError('CANCELLED', 'Cannot go on: cancelled'), false)
})

test('toJSON() gives what stands in the record, without the cause', () => {
  const error = new AppError('TOOL_NOT_FOUND', 'Cannot call "a:b": no such tool', { tool: 'a:b' }, new Error('secret'))
  const text =
    '{"code":"TOOL_NOT_FOUND","message":"Cannot call \\"a:b\\": no such tool","context":{"tool":"a:b"},"fate":"correct"}'
  assert.equal(JSON.stringify(error), text)
})

test('fromErrorData() brings a recorded error back', () => {
  const data = new AppError('TOOL_ERROR', 'Cannot add: refused', { tool: 'fx:add' }).toJSON()
  const error = fromErrorData(data)
  assert.ok(error instanceof AppError)
  assert.deepEqual(error.toJSON(), data)
})

test('toAppError() keeps an AppError and wraps everything else', () => {
  const own = new AppError('CANCELLED', 'Cannot go on: cancelled')
  assert.equal(toAppError(own), own)
  const cause = new TypeError('x is not a function')
  const wrapped = toAppError(cause)
  assert.deepEqual(
    [wrapped.code, wrapped.message, wrapped.cause],
    ['TOOL_INTERNAL_ERROR', 'x is not a function', cause],
  )
  assert.equal(toAppError('boom').message, 'boom')
  assert.equal(toAppError(undefined).message, 'undefined')
})

test('isErrorCode() knows the list and nothing that objects inherit', () => {
  assert.equal(isErrorCode('PLAN_INVALID'), true)
  for (const code of ['', 'plan_invalid', 'toString', '__proto__', 'constructor', 7, null])
    assert.equal(isErrorCode(code), false)
})
