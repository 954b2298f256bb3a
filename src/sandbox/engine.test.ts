/** The change that is made to the engine: it must find its places, or refuse. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { hardenEngine, limitOfTrap } from './inside/engine.ts'

const original = readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'))
const megabytes = 1024 * 1024

test('hardenEngine() finds every place at which the engine would throw for want of memory or stack', async () => {
  const { bytes, traps } = hardenEngine(original, 128 * megabytes)
  const found = [...traps.values()].sort()
  assert.deepEqual(found, ['memory', 'memory', 'memory', 'memory', 'stack', 'stack', 'stack'])
  for (const at of traps.keys()) assert.deepEqual([...bytes.subarray(at, at + 2)], [0x00, 0x01])
  await WebAssembly.compile(bytes)
})

test('hardenEngine() changes nothing but those places and the size of the memory', () => {
  const { bytes, traps } = hardenEngine(original, 128 * megabytes)
  const shift = bytes.length - original.length
  assert(shift > 0 && shift < 8)
  const changed = new Set<number>()
  for (let at = bytes.length - 1; at > 4096; at -= 1) if (bytes[at] !== original[at - shift]) changed.add(at)
  assert(changed.size > 0)
  for (const at of changed) assert([0, 1, 2, 3, 4].some((back) => traps.has(at - back)))
})

test('hardenEngine() refuses an engine that says something else', () => {
  for (const sentence of ['out of memory in regexp execution', 'Maximum call stack size exceeded', 'stack overflow']) {
    const other = Buffer.from(original)
    other.write('X', other.indexOf(`\0${sentence}\0`) + 1, 'latin1')
    assert.throws(() => hardenEngine(other, 128 * megabytes), /Cannot harden the engine: it does not know/)
  }
  assert.throws(() => hardenEngine(original.subarray(0, 8), megabytes), /Cannot harden the engine: it has no section/)
})

test('limitOfTrap() knows a trap by its place and no other', () => {
  const traps = new Map([[0x4d2, 'stack' as const]])
  assert.equal(limitOfTrap(traps, 'RuntimeError: unreachable\n    at wasm://wasm/0:wasm-function[95]:0x4d2'), 'stack')
  assert.equal(limitOfTrap(traps, 'RuntimeError: unreachable\n    at wasm://wasm/0:wasm-function[95]:0x4d3'), null)
  assert.equal(limitOfTrap(traps, 'RuntimeError: unreachable'), null)
})
