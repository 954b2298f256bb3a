/** The stripper's thread: what it refuses is the text's fault, what it does not answer is not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { strip } from './strip.ts'

test('strip() blames no text that its thread had no time to read, and reads it with the next', () => {
  const text = 'const n: number = 1'
  assert.throws(() => strip(text, 0), { code: 'SANDBOX_SETUP_FAILED' })
  assert.deepEqual(strip(text), { text: 'const n         = 1' })
})
