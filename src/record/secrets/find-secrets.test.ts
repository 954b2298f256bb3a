/**
 * Secrets in every encoding that is undone, one in the other too, and what looking for them costs.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '#model'
import { encodedViews } from './encoded-views.ts'
import { findSecrets } from './find-secrets.ts'
import { secretExpressions } from './secret-encodings.ts'

const secret = 'pa+ss/w"ord é?~ of 2026'
const known = secretExpressions(secret)
const pattern = [/sk-[A-Za-z0-9]{20,}/g]
const key = 'sk-abcdefghijABCDEFGHIJ0123'

const base64 = (text: string | Buffer) => Buffer.from(text as string).toString('base64')
const hex = (text: string | Buffer) => Buffer.from(text as string).toString('hex')
const wrapped = (text: string, width: number, end = '\n') =>
  text.replace(new RegExp(`.{${width}}(?=.)`, 'g'), `$&${end}`)
const utf16le = (text: string) => Buffer.from(text, 'utf16le')
const utf16be = (text: string) => utf16le(text).swap16()

/** Data that holds the text, with so many bytes before it. */
const within = (text: string, before: number) => `${'x'.repeat(before)}${text}; ${'and more '.repeat(20)}`

const encodings: Record<string, (text: string) => string> = {
  'hexadecimal, lower case': (text) => hex(text),
  'hexadecimal, upper case': (text) => hex(text).toUpperCase(),
  'hexadecimal behind 0x': (text) => `0x${hex(text)}`,
  'hexadecimal in lines of 60': (text) => wrapped(hex(within(text, 25)), 60),
  'base64 in lines of 60': (text) => wrapped(base64(within(text, 38)), 60),
  'base64 in lines of 76 with CRLF': (text) => wrapped(base64(within(text, 50)), 76, '\r\n'),
  'base64 in lines, as JSON text': (text) => JSON.stringify(JSON.stringify(wrapped(base64(within(text, 38)), 60))),
  'base64 in lines, behind a word': (text) => `content\n${wrapped(base64(within(text, 39)), 60)}\n`,
  'base64 in indented lines': (text) => `  ${wrapped(base64(within(text, 40)), 64, '\n    ')}`,
  'base64 in lines, percent-encoded': (text) => encodeURIComponent(wrapped(base64(within(text, 41)), 60)),
  base64url: (text) => Buffer.from(within(text, 1)).toString('base64url'),
  'base64 behind a path': (text) => `https://host/abc/${base64(text)}`,
  'base64 behind a path of another length': (text) => `https://host/abcd/${base64(text)}`,
  'base64 of base64': (text) => base64(base64(text)),
  'base64 of base64 in lines, in lines': (text) => wrapped(base64(wrapped(base64(within(text, 37)), 60)), 76),
  'base64 of base64 of base64': (text) => base64(base64(base64(text))),
  'base64 of hexadecimal': (text) => base64(hex(text)),
  'hexadecimal of base64': (text) => hex(base64(text)),
  'base64 of percent-encoding': (text) => base64(`?q=${encodeURIComponent(text)}`),
  'base64 of JSON text': (text) => base64(JSON.stringify({ deep: JSON.stringify({ text }) })),
  'UTF-16 (LE) as text': (text) => utf16le(text).toString('latin1'),
  'UTF-16 (BE) as text': (text) => utf16be(text).toString('latin1'),
  'UTF-16 (LE) as JSON text': (text) => JSON.stringify(utf16le(text.replaceAll('"', "'")).toString('latin1')),
  'base64 of UTF-16 (LE)': (text) => base64(utf16le(text)),
  'base64 of UTF-16 (BE)': (text) => base64(utf16be(text)),
  'hexadecimal of UTF-16 (LE)': (text) => hex(utf16le(text)),
  'base64 of base64 of UTF-16 (LE)': (text) => base64(base64(utf16le(text))),
}

for (const [name, encode] of Object.entries(encodings)) {
  test(`findSecrets() finds a known secret, and what a pattern matches, in ${name}`, () => {
    for (const before of [0, 1, 2, 3, 4]) {
      const around = (text: string) => `${'-'.repeat(before)} ${text} .`
      const plain = name === 'UTF-16 (LE) as JSON text' ? secret.replaceAll('"', "'") : secret
      for (const [value, expressions] of [
        [plain, plain === secret ? known : secretExpressions(plain)],
        [key, pattern],
      ] as const) {
        const text = around(encode(value))
        const found = findSecrets(text, [...expressions])
        assert.equal(found.length, 1, `${JSON.stringify(text)}: ${JSON.stringify(found)}`)
        const left = text.slice(0, found[0]![0]) + text.slice(found[0]![1])
        const [encoded, rest] = [encode(value).length, left.length - around('').length]
        const isAlone = !/lines|url|path|JSON text|percent/.test(name)
        if (isAlone) assert.ok(rest <= 8, `${rest} of ${encoded} characters are left: ${left}`)
        assert.deepEqual(findSecrets(left, [...expressions]), [], 'nothing of it is left')
      }
    }
  })
}

test('findSecrets() finds nothing where nothing is: other data, hashes, words, paths, short matches by chance', () => {
  const data = Buffer.from(Array.from({ length: 60_000 }, (_, index) => (index * index * 31 + index * 7) % 256))
  const texts = [
    base64(data),
    wrapped(base64(data), 60),
    hex(data),
    data.toString('latin1'),
    'internationalization/of/'.repeat(99),
  ]
  for (const text of texts)
    assert.deepEqual(
      findSecrets(text, [...known, ...pattern, /[0-9]{3}/g]).filter(([from, to]) => to - from > 4),
      [],
    )
})

test('encodedViews() decodes at most a few times as much as there is, and twice as much of a text of twice the length', () => {
  const decodedOf = (text: string, depth: number = limits.encodedDepthMax): number =>
    depth === 0
      ? 0
      : encodedViews(text).reduce((sum, view) => sum + view.text.length + decodedOf(view.text, depth - 1), 0)
  const nested = (text: string) => base64(base64(base64(text)))
  const shapes: Record<string, (size: number) => string> = {
    base64: (size) => base64(Buffer.alloc(size, 'abcdefg\x80\xff')),
    lines: (size) => wrapped(base64(Buffer.alloc(size, 'abcdefg\x80\xff')), 60),
    nested: (size) => nested('some text '.repeat(size / 10)),
    hex: (size) => 'deadbeef'.repeat(size / 8),
    utf16: (size) => 'a\0'.repeat(size),
    words: (size) => 'internationalization '.repeat(size / 20),
    nothing: (size) => '{} [] () '.repeat(size / 9),
  }
  for (const [name, shape] of Object.entries(shapes)) {
    const [once, twice] = [decodedOf(shape(20_000)), decodedOf(shape(40_000))]
    assert.ok(twice <= 2.5 * once, `${name}: ${once} characters, then ${twice}`)
    assert.ok(once <= 8 * shape(20_000).length, `${name}: ${once} characters of ${shape(20_000).length}`)
  }
})

/** Quadratic time would take most of an hour for one of these, linear time takes milliseconds. */
test('findSecrets() takes linear time in what a server sends, also of signs that begin an escape', {
  timeout: 60_000,
}, () => {
  const size = 1_000_000
  const parts = [
    '\\',
    '%',
    '%2b',
    '%25',
    '\n',
    '\\n',
    'a\0',
    '\\u0000',
    'a',
    '-',
    ' ',
    '=',
    'QUJDREVGR0hJSktM\n',
    '\\/',
    '"',
  ]
  const expressions = [...known, ...secretExpressions('"quoted" \u{1f511} key'), ...pattern]
  for (const part of parts) {
    for (const before of ['', 'QUJDREVGR0hJSktMQUJD']) {
      assert.deepEqual(findSecrets(before + part.repeat(size / part.length), expressions), [], part)
    }
  }
})

test('findSecrets() finds a character beyond 16 bits and a quote at the start, escaped any number of times', () => {
  const quoted = '"quoted" \u{1f511} key'
  const expressions = secretExpressions(quoted)
  const escaped = (unit: string) => (unit > '~' ? `\\u${unit.charCodeAt(0).toString(16)}` : unit)
  const ascii = JSON.stringify(quoted).split('').map(escaped).join('')
  for (const text of [quoted, JSON.stringify(JSON.stringify(quoted)), ascii, `\\\\${JSON.stringify(ascii)}`]) {
    assert.equal(findSecrets(text, expressions).length, 1, text)
  }
})
