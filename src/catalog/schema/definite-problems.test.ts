/** Arguments of which a part is still to come: what is wrong anyway, and what only might be. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject, Tool } from '#model'
import { definiteProblems } from './definite-problems.ts'

const base = { server: 'a', name: 'b', id: 'a:b', description: '', annotations: {}, effect: 'read' as const }
const problems = (input: JsonObject, args: Json, anything: string[] = [], texts: string[] = []) => {
  const tool: Tool = { ...base, input, effectFrom: 'default', digest: JSON.stringify(input) }
  return definiteProblems(tool, args, { anything, texts }).map(({ message }) =>
    message.replace('Cannot call "a:b": ', ''),
  )
}
const number = { type: 'number', minimum: 3 }
const list = { type: 'object', properties: { l: { type: 'array', items: number, maxItems: 2, uniqueItems: true } } }

test('definiteProblems() tells each problem once where everything is known', () => {
  const input = { type: 'object', properties: { n: number, m: number }, required: ['n', 'm', 'o'] }
  assert.deepEqual(problems(input, { n: 'x', m: 1 }), [
    '"o" is missing, expected unknown',
    '"n" must be number',
    '"m" must be at least 3',
  ])
})

test('definiteProblems() leaves open what is still to come, and judges around it', () => {
  assert.deepEqual(problems(list, { l: [null, 1] }, ['/l/0']), ['"l.1" must be at least 3'])
  assert.equal(problems(list, { l: [null, null, 5] }, ['/l/0', '/l/1']).length, 1, 'too many, whatever they are')
  assert.deepEqual(problems(list, { l: [null, null] }, ['/l/0', '/l/1']), [], 'they may differ')
  assert.deepEqual(problems(list, { l: null }, ['/l']), [])
  assert.equal(problems(list, { l: 'so much' }, [], ['/l']).length, 1, 'a text is no list')
})

test('definiteProblems() does not judge a choice that what is still to come may decide', () => {
  const either = (key: 'anyOf' | 'oneOf'): JsonObject => ({
    type: 'object',
    [key]: [
      { properties: { a: { const: 1 } }, required: ['a'] },
      { properties: { b: number }, required: ['b'] },
    ],
  })
  for (const key of ['anyOf', 'oneOf'] as const) {
    assert.deepEqual(problems(either(key), { a: null }, ['/a']), [])
    assert.equal(problems(either(key), { a: 2 }).length, 1)
  }
  const when: JsonObject = { type: 'object', if: { properties: { a: { const: null } } }, then: { required: ['z'] } }
  assert.deepEqual(problems(when, { a: null }, ['/a']), [])
  assert.equal(problems(when, { a: null }).length, 1)
})
