/**
 * Pure operations as a box tells them: by name, in order, bounded, and out of the program's reach.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { operations } from '#model'
import { engine, play } from './play.test.ts'
import { openBoxes } from './sandbox.ts'

const boxes = openBoxes({ engine })
after(() => boxes.close())

const traced = (code: string) => play(boxes, code, { isTraced: true })
const told = async (code: string) => (await traced(code)).turns.map((turn) => turn.traced?.operations.join(' ') ?? '')

test('a turn tells the operations of the program, in order; what a function of one does is part of it', async () => {
  const table: [code: string, turns: string[]][] = [
    ['return [3, 1].filter((n) => n > 1).map((n) => String(n).padStart(2)).sort()', ['code:filter code:map code:sort']],
    [
      'const r = await mcp.a.b({ list: [1] }); return JSON.stringify(r.list.concat([2]).slice(1))',
      ['', 'code:concat code:slice code:stringify'],
    ],
    [
      'for (let i = 0; i < 1000; i++) Math.max(i, 1); return "a-b".split("-").join()',
      ['code:max code:split code:join'],
    ],
    ['return `${1} and ${true} of ${{}}`', ['']],
    [
      'for (const [key, value] of Object.entries(args)) key + value; return [...[1], ...new Set([2])]',
      ['code:entries'],
    ],
    ['try { [].reduce((a) => a) } catch {} return "x".trim()', ['code:reduce code:trim']],
    ['try { [1].map(() => { throw new Error("no") }) } catch {} return "x".trim()', ['code:map code:trim']],
    ['const r = [1].map(String); await mcp.a.b({}); return r.join()', ['code:map', 'code:join']],
    ['return 1', ['']],
  ]
  for (const [code, turns] of table) assert.deepEqual(await told(code), turns, code)
  assert.deepEqual(
    (await play(boxes, 'return [1].map(String)', { isTraced: false })).turns[0]!.traced,
    undefined,
    'only where it is asked for',
  )
})

test('every operation of the registry is told under its name', async () => {
  const samples = {
    array: '[1, 2]',
    string: '"ab"',
    number: '(12)',
    Array: 'Array',
    Object: 'Object',
    Math: 'Math',
    JSON: 'JSON',
    Number: 'Number',
    String: 'String',
  }
  const lines = operations.flatMap(({ name, owners }) =>
    owners.map((owner) => `try { ${samples[owner]}.${name}() } catch {} `),
  )
  const wanted = operations.flatMap(({ id, owners }) => owners.map(() => id))
  for (let at = 0; at < lines.length; at += 40) {
    const body = lines.slice(at, at + 40).join('')
    const [turn] = (await traced(`${body} return 1`)).turns
    const expected = wanted.slice(at, at + 40).filter((id, index, all) => id !== all[index - 1])
    assert.deepEqual(turn!.traced!.operations, expected)
  }
})

test('a turn tells at most so many operations, and how many it left out', async () => {
  const { turns } = await traced('for (let i = 0; i < 100; i++) { "x".trim(); [i].slice() } return 1')
  assert.deepEqual([turns[0]!.traced!.operations.length, turns[0]!.traced!.dropped], [64, 136])
})

/**
 * But for one thing: in the text of a function that stands behind a proxy, V8 leaves out its name.
 */
test('a program sees nothing of it, and cannot write into it', async () => {
  const looks = `const f = [].filter; return [f.name, f.length, 'prototype' in f, String(f).replace('filter', ''), typeof f, Object.keys(f).length,
    JSON.stringify(Object.getOwnPropertyDescriptor(Array.prototype, 'map')), Object.keys(globalThis).length,
    Array.prototype.map === [].map, Object.getPrototypeOf(f) === Function.prototype, (() => { try { new f() } catch (e) { return e.name } })()]`
  const [plain, seen] = [await play(boxes, looks, { isTraced: false }), await traced(looks)]
  assert.deepEqual(seen.end, plain.end)
  const forged = await told(`
    Reflect.apply = () => 'forged'; globalThis.Proxy = null; Object.defineProperty = () => {}
    Array.prototype.push = function () { throw new Error('caught') }
    String.prototype.concat = () => 'forged'
    return [1].map((n) => n + 1)`)
  assert.deepEqual(forged, ['code:map'])
  assert.deepEqual(
    await told('Array.prototype.map = () => 5; return [1].map()'),
    [''],
    'its own function is no operation',
  )
})

test('a replayed program tells the same, and its lines and columns stay where they are', async () => {
  const code = `const r = await mcp.a.b({ n: 1 })\nconst all = [1, 2].map((n) => n * r.n)\nawait mcp.a.b({ all })\nreturn all.map((x) => x.no.way)`
  const [first, again] = [await traced(code), await traced(code)]
  assert.deepEqual(first.turns, again.turns)
  const plain = await play(boxes, code, { isTraced: false })
  assert.deepEqual(first.end, plain.end)
})
