/**
 * Tests of the shapes of one server: kept for the next life, shared with another process, and free
 * of secrets.
 */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import type { Tool } from '#model'
import { temporaryFolder } from '#test'
import { openShapes } from './observed-shapes.ts'
import { signatureOf } from './signature.ts'

const log = () => assert.fail('nothing goes wrong')
const tool = (digest: string): Tool => ({
  ...{ id: 'fx:a', server: 'fx', name: 'a', description: '', input: {}, annotations: {} },
  ...{ effect: 'read', effectFrom: 'default', digest },
})

test('observe() says whether an answer taught something, and another definition begins anew', (t) => {
  const shapes = openShapes({ folder: temporaryFolder(t), server: 'fx', secrets: [], log })
  assert.equal(shapes.of(tool('1')), undefined)
  assert.deepEqual(
    [{ a: 1 }, { a: 2 }, { a: null }, { a: 3 }].map((value) => shapes.observe(tool('1'), value)),
    [true, false, true, false],
  )
  assert.equal(signatureOf(shapes.of(tool('1'))), '{ a: null | number }')
  assert.equal(shapes.of(tool('2')), undefined)
  shapes.close()
})

test('close() keeps what was seen, with what another process saw', (t) => {
  const folder = temporaryFolder(t)
  const open = () => openShapes({ folder, server: 'fx', secrets: [], log })
  const [one, two] = [open(), open()]
  one.observe(tool('1'), { a: 1 })
  two.observe(tool('1'), { b: 'x' })
  two.observe(tool('2'), 'text')
  one.close()
  two.close()
  const later = open()
  assert.equal(signatureOf(later.of(tool('1'))), '{ b?: string, a?: number }')
  assert.equal(signatureOf(later.of(tool('2'))), 'string')
})

test('openShapes() begins anew with a file that it cannot read', (t) => {
  const folder = temporaryFolder(t)
  const first = openShapes({ folder, server: 'fx', secrets: [], log })
  first.observe(tool('1'), 1)
  first.close()
  for (const text of ['', '[]', '{"1":{"tool":"a","shape":{"type":"x"}}}', '{"1":{"shape":{"type":[],"items":1}}}']) {
    writeFileSync(join(folder, 'shapes', 'fx.json'), text)
    assert.equal(openShapes({ folder, server: 'fx', secrets: [], log }).of(tool('1')), undefined, text)
  }
})

test('observe() keeps no shape that has a secret for a name', (t) => {
  const shapes = openShapes({ folder: temporaryFolder(t), server: 'fx', secrets: ['hunter2hunter2'], log })
  assert.equal(shapes.observe(tool('1'), { hunter2hunter2: 1 }), false)
  assert.equal(shapes.of(tool('1')), undefined)
})
