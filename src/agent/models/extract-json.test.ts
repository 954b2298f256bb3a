/** JSON in what models write: found where it is certain, refused with a reason where it is not. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { extractJson } from './extract-json.ts'

const value = { thought_process: 'a "b" {c} }', artifacts: [{ path: 'x', content: '```\n{"no": 1}\n<think>' }] }
const json = JSON.stringify(value, null, 2)

const found: [string, string][] = [
  ['alone', json],
  ['in a code fence', `\`\`\`json\n${json}\n\`\`\``],
  ['in a fence without a language', `\`\`\`\n${json}\n\`\`\``],
  ['with prose around it', `Here it is:\n${json}\nI hope that helps {really}.`],
  ['after thoughts', `<think>maybe {"a": 1}? or {</think>\n${json}`],
  ['after thoughts in capitals and prose', `Well. <THINKING>{"a": 1}</THINKING> So: ${json}`],
  ['after thoughts whose opening tag is missing', `I think {"a": 1}</think>${json}`],
  ['twice the same', `${json}\nAgain:\n${json}`],
  ['after a bracket that never closes', `use {x or "y\n\n${json}`.replace('"y', 'y')],
  ['with trailing commas', json.replace(/\}\s*\]/, '},\n]').replace(/\}$/, ',}')],
]

for (const [name, text] of found)
  test(`extractJson() finds an object ${name}`, () => assert.deepEqual(extractJson(text), { ok: true, value }))

test('extractJson() takes line breaks inside of strings for what they are', () => {
  assert.deepEqual(extractJson('{"a": "one\n\ttwo, ]", }'), { ok: true, value: { a: 'one\n\ttwo, ]' } })
})

test('extractJson() keeps commas and brackets inside of strings', () => {
  assert.deepEqual(extractJson('x {"a": ",}", "b": [1,],} y'), { ok: true, value: { a: ',}', b: [1] } })
})

const refused: [string, string, RegExp][] = [
  ['no object', 'I am done.', /no JSON object/],
  ['only thoughts', '<think>{"a": 1}', /no JSON object/],
  ['two different objects', '{"a": 1} or {"a": 2}', /several/],
  ['an object that is cut off', '{"a": "b', /cut off/],
  ['broken JSON', '{"a": b}', /cannot be parsed/],
  ['nothing', '', /no JSON object/],
]

for (const [name, text, reason] of refused)
  test(`extractJson() refuses ${name}`, () => {
    const result = extractJson(text)
    assert.ok(!result.ok && reason.test(result.reason), JSON.stringify(result))
  })

test('extractJson() lets the schema choose between several', () => {
  const fits = (one: unknown) => Object.hasOwn(one as object, 'b')
  assert.deepEqual(extractJson('{"a": 1} and {"b": 2}', fits), { ok: true, value: { b: 2 } })
  assert.equal(extractJson('{"a": 1} and {"c": 2}', fits).ok, false)
})

test('extractJson() reads an answer of many megabytes, and says of a wrong one what is wrong', () => {
  const value = { thought_process: '\n"x'.repeat(2_000_000) }
  assert.deepEqual(extractJson(JSON.stringify(value)), { ok: true, value })
  const wrong = extractJson(`${JSON.stringify(value).slice(0, -1)},}`)
  assert.match(wrong.ok ? '' : wrong.reason, /cannot be parsed/)
})

test('extractJson() is quick with hostile text', () => {
  const before = process.cpuUsage()
  for (const text of [
    '{'.repeat(1_000_000),
    '{"a":'.repeat(200_000),
    '<think>'.repeat(100_000),
    '{}'.repeat(200_000),
    `${'['.repeat(500_000)}`,
  ])
    extractJson(text)
  // Of the processor: a busy machine makes nothing of it slower.
  const ms = process.cpuUsage(before).user / 1000
  assert.ok(ms < 5000, `${ms} ms`)
})
