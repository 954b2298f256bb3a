/** Programs that differ in wording are one, and what differs in value becomes a parameter. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { loadStructure } from '#run'
import { liftLiterals, parametersOf } from './anti-unify.ts'

const { canonicalOf } = await loadStructure()

const program = (id: string, extra = '') =>
  `async () => { const order = await mcp.shop.find({ id: ${id}, deep: true }); ${extra} return { order, at: 'desk' } }`
const example = (intent: string, source: string) => ({ intent, program: canonicalOf(`(${source})`) })

test('canonicalOf() is blind to names, formatting, comments and quotes, not to what is done', () => {
  const one = canonicalOf(`(${program('"A-17"')})`)
  const other = canonicalOf(
    `(async () => {
    // The same, by another hand
    const found = await mcp.shop.find({ id: 'A-17', 'deep': true });
    return { order: found, at: "desk" };
  })`,
  )
  assert.equal(one.text, other.text)
  assert.notEqual(one.text, canonicalOf(`(${program('"A-18"')})`).text)
  assert.equal(one.shape, canonicalOf(`(${program('"A-18"')})`).shape)
  assert.notEqual(one.shape, canonicalOf(`(${program('"A-17"', 'await mcp.shop.log({});')})`).shape)
  assert.notEqual(one.shape, canonicalOf(`(${program('"A-17"').replace('find', 'drop')})`).shape)
})

test('parametersOf() lifts what varied between runs and what the intent says', () => {
  const two = parametersOf([example('find one', program('"A-17"')), example('find another', program('"B-99"'))])
  assert.deepEqual(two?.parameters, [{ name: 'id', key: 'id', literals: [0], values: ['A-17', 'B-99'] }])
  const said = parametersOf([example('find order A-17 now', program('"A-17"'))])
  assert.deepEqual(
    said?.parameters.map(({ name }) => name),
    ['id'],
  )
  assert.deepEqual(
    parametersOf([example('find order A-175', program('"A-17"'))])?.parameters,
    [],
    'a part of another word',
  )
  assert.equal(parametersOf([example('', program('1')), example('', program('1', 'f();'))]), null)
})

test('parametersOf() makes one parameter of literals that vary together, and names no two alike', () => {
  const source = (id: string, other: string) =>
    `async () => mcp.a.b({ id: '${id}', list: [{ id: '${other}' }], same: '${id}' })`
  const found = parametersOf([example('', source('x1', 'y1')), example('', source('x2', 'y2'))])
  assert.deepEqual(
    found?.parameters.map(({ name, literals }) => [name, literals]),
    [
      ['id', [0, 2]],
      ['id2', [1]],
    ],
  )
})

test('liftLiterals() puts parameters in the place of literals', () => {
  const pair = "(async () => mcp.a.b({ id: 'long-identifier', to: 'x' }))"
  const both = ['id', 'to'].map((name, at) => ({ name, key: name, literals: [at], values: [] }))
  assert.equal(
    liftLiterals(pair, canonicalOf(pair), { parameters: both, texts: [] }),
    '(async () => mcp.a.b({ id: args.id, to: args.to }))',
  )
  const source = `(${program('"A-17"')})`
  const canonical = canonicalOf(source)
  const parameters = parametersOf([example('A-17', program('"A-17"'))])!
  assert.equal(liftLiterals(source, canonical, parameters), `(${program('args.id')})`)
})
