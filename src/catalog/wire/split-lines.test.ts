/**
 * Tests of the small parts of a pipe: lines, tails, and what is kept of each request.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { Receipts } from './receipts.ts'
import { lineCutter, tailKeeper } from './split-lines.ts'

test('lineCutter() gives the same lines however the bytes are cut', () => {
  const bytes = Buffer.from('one\n\n{"é":"😀"}\nlast\nrest')
  for (let size = 1; size <= bytes.length; size++) {
    const lines: string[] = []
    const cut = lineCutter(100, (line) => lines.push(line))
    for (let at = 0; at < bytes.length; at += size) assert(cut(bytes.subarray(at, at + size)))
    assert.deepEqual(lines, ['one', '', '{"é":"😀"}', 'last'])
  }
})

test('lineCutter() says no to a line that is too long, with or without its end', () => {
  assert.equal(lineCutter(5, () => {})(Buffer.from('12345\n')), true)
  assert.equal(lineCutter(5, () => {})(Buffer.from('123456\n')), false)
  const cut = lineCutter(5, () => {})
  assert.equal(cut(Buffer.from('123')), true)
  assert.equal(cut(Buffer.from('456')), false)
})

test('tailKeeper() keeps the last bytes', () => {
  const tail = tailKeeper(8)
  for (const text of ['first ', 'second ', 'third\n']) tail.add(Buffer.from(text))
  assert.equal(tail.text(), 'd third')
})

test('Receipts follow a call from the line to its answer, and let out no call that is not expected', () => {
  const receipts = new Receipts()
  const args = {}
  const receipt = receipts.expect(args, () => {})
  const request = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'x', arguments: args } } as const
  assert.equal(receipt.state, 'waiting')
  assert.equal(receipts.leaving({ jsonrpc: '2.0', id: 6, method: 'tools/list' }), null)
  assert.equal(receipts.leaving(request), receipt)
  assert.equal(receipt.state, 'sent')
  receipts.arrived({ jsonrpc: '2.0', id: 6, result: {} })
  assert.equal(receipt.state, 'sent')
  receipts.arrived({ jsonrpc: '2.0', id: 7, result: {} })
  assert.equal(receipt.state, 'answered')
  assert.throws(() => receipts.leaving({ ...request, params: { name: 'x', arguments: {} } }), /is not expected/)
  receipts.forget(receipt)
  assert.throws(() => receipts.leaving(request), /is not expected/)
})
