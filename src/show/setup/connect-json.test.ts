/**
 * An entry in a file of another program: put in, it says what it should; taken out, no byte is
 * another than before.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { type JsonObject, parseJsonc } from '#model'
import { dice } from '#test'
import { withEntry } from './connect-json.ts'

const entry = { command: 'a', args: ['b', 'c'] }

/** Puts it in, twice, changes it, and takes it out. */
function checkThereAndBack(text: string, section = 'mcpServers'): string {
  const put = withEntry(text, section, 'metier', entry)!
  const { metier, ...others } = (parseJsonc(put) as Record<string, JsonObject>)[section]!
  assert.deepEqual(metier, entry, put)
  const before = (parseJsonc(text) as Record<string, JsonObject>)[section] ?? {}
  assert.deepEqual(others, before)
  assert.equal(withEntry(put, section, 'metier', entry), put, 'once')
  const other = withEntry(put, section, 'metier', { url: 'x' })!
  assert.equal(withEntry(other, section, 'metier', entry), put, 'and back')
  assert.equal(withEntry(put, section, 'metier', null), text, put)
  assert.equal(withEntry(text, section, 'metier', null), text, 'nothing to take out')
  return put
}

test('withEntry() leaves everything else as it is written', () => {
  const table = [
    '{}',
    '{ }\n',
    '{\n}\n',
    '{"mcpServers":{}}',
    '{"mcpServers": {}, "n": 12345678901234567890, "x": 1.0}',
    '{\n  "mcpServers": {\n  }\n}\n',
    '{\n  "mcpServers": { /* none */ }\n}\n',
    '{\n  "mcpServers": {\n    // none\n  }\n}\n',
    '{"a":1}',
    '{ "a": 1 }',
    '{\n\t"a": [1,\n2], // one\n\t"mcpServers": {\n\t\t"x": {"command": "y"} // last\n\t}\n}',
    '{\r\n    "mcpServers": {\r\n        "x": {"command": "}"},\r\n    },\r\n}\r\n',
    '\uFEFF{\n  "mcpServers": {"x": {"args": ["{", "\\"}"]}}\n}\n',
    '// mine\n{"b": {"mcpServers": {"metier": 1}}, /* c */ "mcpServers": {"y": {} /* z */}} // end\n',
  ]
  for (const text of table) checkThereAndBack(text)
})

test('withEntry() writes as the file is written', () => {
  const tabs = checkThereAndBack('{\n\t"mcpServers": {\n\t\t"x": {}\n\t}\n}\n')
  assert.equal(
    tabs,
    '{\n\t"mcpServers": {\n\t\t"x": {},\n\t\t"metier": {\n\t\t\t"command": "a",\n\t\t\t"args": [\n\t\t\t\t"b",\n\t\t\t\t"c"\n\t\t\t]\n\t\t}\n\t}\n}\n',
  )
  assert.match(checkThereAndBack('{\r\n    "x": 1\r\n}\r\n'), /^(?:[^\n]*\r\n)+$/)
  assert.equal(checkThereAndBack('{"x":1}'), '{"x":1, "mcpServers": { "metier": {"command":"a","args":["b","c"]} }}')
})

test('withEntry() makes a file where there is none, and knows it again', () => {
  const made = withEntry('', 'mcp', 'metier', entry)!
  assert.deepEqual(parseJsonc(made), { mcp: { metier: entry } })
  assert.equal(withEntry(made, 'mcp', 'metier', null), null)
  assert.equal(withEntry(`${made}\n`, 'mcp', 'metier', null), '{\n}\n', 'one that somebody else wrote stays')
})

test('withEntry() refuses what it would have to destroy or does not understand', () => {
  for (const text of [
    '[]',
    '3',
    '{',
    '{"mcpServers": []}',
    '{"mcpServers": "x"}',
    '{"mcpServers": null}',
    '{"a":1,"a":2}',
  ])
    assert.throws(() => withEntry(text, 'mcpServers', 'metier', entry), text)
})

test('withEntry() gives back every byte of files as people might write them', () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
  const next = dice(seed)
  const of = <Item>(items: readonly Item[]) => items[Math.floor(next() * items.length)]!
  const blank = () => of(['', '', ' ', '\n  ', '\n\t', ' /* , { " */ ', ' // }, "x": {\n    ', '\r\n'])
  const value = (depth: number): string =>
    depth === 0 ? of(['1', '-1.50e3', 'true', 'null', '"a\\"}{,"', '""', '[]', '{}']) : of([object, list])(depth - 1)
  const list = (depth: number) =>
    `[${blank()}${value(depth)}${blank()},${blank()}${value(depth)}${of(['', ','])}${blank()}]`
  const object = (depth: number, keys = ['a', 'b\\u00e9', 'c'].slice(Math.floor(next() * 4))): string => {
    const members = keys.map((key) => `${blank()}"${key}"${blank()}:${blank()}${value(depth)}${blank()}`)
    return `{${members.join(',')}${members.length > 0 ? of(['', `,${blank()}`]) : blank()}}`
  }
  for (let round = 0; round < 500; round++) {
    const inner = object(1)
    const text = `${blank()}{${blank()}"x":${value(1)},${blank()}"mcpServers"${blank()}:${blank()}${inner}${of(['', ','])}${blank()}}${blank()}`
    const without = `${blank()}${object(2)}${blank()}`
    for (const each of [text, without]) {
      try {
        checkThereAndBack(each)
      } catch (error) {
        ;(error as Error).message += ` (SEED=${seed}, round ${round}: ${JSON.stringify(each)})`
        throw error
      }
    }
  }
})
