/** The texts that teach the protocols are what others see of us: a change of one is a decision. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sha256 } from '#model'

const pinned = {
  rebound: '22c79382717306edf8e31632feb7a8d8c7fa082f402addb34a757ad7ed25fd21',
  tool_code: 'fbcabf98471384553c19747b951a46363c6a3c53fdb0b40b32692e9d60433445',
  tools: '88c644d1cbae13e6be55fb7f7becce457082ecfe56c8a1cdd161ae26c8e51d24',
}

for (const [name, digest] of Object.entries(pinned))
  test(`the system prompt ${name}.txt is the one that is pinned`, () => {
    assert.equal(sha256(readFileSync(join(import.meta.dirname, 'prompts', `${name}.txt`))), digest)
  })
