/** Tests of what in an intent is a value, and therefore not held against a tool. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { purposeWords } from './intent.ts'

test('purposeOf() leaves out names, numbers, paths and quoted words', () => {
  const table: [string, string[]][] = [
    ['what time is it in Tokyo', ['time']],
    ['list the files in the src/lib folder', ['list', 'files', 'folder']],
    ['read notes.txt and C:\\temp\\a', ['read']],
    ['write a mail to anna@example.org about https://example.org/x', ['write', 'mail']],
    ['find "blue whale" in the report', ['find', 'report']],
    ["set the title to 'Hello World'", ['set', 'title']],
    ['convert 12.5 kg at 10:30 for order A-17 and $40', ['convert', 'kg', 'order']],
    ['book a flight from New York to San Francisco', ['book', 'flight']],
    ["show the user's folder", ['show', 'user', 'folder']],
  ]
  for (const [intent, words] of table) assert.deepEqual(purposeWords(intent), words, intent)
})

test('purposeOf() takes capitals for names only where small letters are the rule, and where else nothing is left all words', () => {
  assert.deepEqual(purposeWords('LIST ALL OPEN ISSUES'), ['list', 'open', 'issues'])
  assert.deepEqual(purposeWords('List Open Issues'), ['list', 'open', 'issues'])
  assert.deepEqual(purposeWords('Search the repositories'), ['search', 'repositories'])
  assert.deepEqual(purposeWords('"blue whale"'), ['blue', 'whale'])
  assert.deepEqual(purposeWords('fs:read_file'), ['fs', 'read', 'file'])
  assert.deepEqual(purposeWords('明天的天气'), ['明天', '的', '天气'])
})

test('purposeOf() takes time in proportion to the text, whatever it is made of', () => {
  for (const part of ['a', ' ', '"', "'", '/', '1', 'A', 'a ', 'Ab ', '. ', "a'"])
    assert.ok(purposeWords(part.repeat(200_000 / part.length)).length <= 1, JSON.stringify(part))
})
