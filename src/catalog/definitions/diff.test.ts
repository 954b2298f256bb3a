/** Tests of the diff: what it says, and that applying it gives the other side. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '#model'
import { applyDiff, diffOf } from './diff.ts'

test('diffOf() names each field that differs, by pointer, with what was there before and what is there after', () => {
  const before: JsonObject = { a: 1, b: { c: 'x', 'd/e~f': [1] }, gone: null, same: { deep: [1, { x: 1 }] } }
  const after: JsonObject = { a: 2, b: { c: 'x', 'd/e~f': [1, 2], more: true }, same: { deep: [1, { x: 1 }] } }
  assert.deepEqual(diffOf(before, after), [
    { field: '/a', before: 1, after: 2 },
    { field: '/b/d~1e~0f', before: [1], after: [1, 2] },
    { field: '/b/more', after: true },
    { field: '/gone', before: null },
  ])
  assert.deepEqual(diffOf(before, structuredClone(before)), [])
})

test('applyDiff() makes the one the other, whatever the keys', () => {
  const strange = JSON.parse('{"__proto__":{"a":1},"constructor":2,"":{"":3},"~1":{"/":4}}') as JsonObject
  const plain: JsonObject = { a: { b: { c: 1 } }, list: [1] }
  for (const [before, after] of [
    [{}, strange],
    [strange, plain],
    [plain, { a: 'text' }],
    [{ a: 'text' }, plain],
    [strange, {}],
  ] as JsonObject[][]) {
    const diff = JSON.parse(JSON.stringify(diffOf(before!, after!)))
    assert.equal(JSON.stringify(sorted(applyDiff(before!, diff))), JSON.stringify(sorted(after!)))
  }
  assert.equal(({} as { a?: unknown }).a, undefined)
})

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.entries(value)
    .map(([key, member]) => [key, sorted(member)])
    .sort()
}
