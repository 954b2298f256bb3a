/**
 * Secrets: hidden in every form before anything is recorded, given back to whom they belong, and
 * never on disk.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Json } from '#model'
import { openSample, startSample } from '#test'
import { openSecrets, placeholdersIn, type SealedSecret, type Secrets } from './secrets.ts'

const placeholder = /^«secret:[0-9a-f]{32}»$/
const seed = 'cd'.repeat(32)

/** Secrets over a chain that only remembers what was sealed. */
function openPlain(patterns: string[], known: string[], sealed: SealedSecret[] = []): Secrets {
  const chain = {
    seal: (placeholder: string, value: string, server: string) => void sealed.push({ placeholder, value, server }),
    sealed: () => [...sealed],
  }
  return openSecrets({ patterns, known, seed, chain })
}

test('hide() replaces what a pattern matches, in values and keys, also inside longer strings', () => {
  const { hide, reveal } = openPlain(['sk-[a-z0-9]{8,}'], [])
  const value = { 'key sk-abcdefgh1': [1, null, 'x sk-abcdefgh1 y sk-zzzzzzzz2'], plain: true }
  const hidden = hide(value, 'a') as Record<string, Json>
  const text = JSON.stringify(hidden)
  assert.equal(text.includes('sk-'), false)
  const [first, again, second] = text.match(/«secret:[0-9a-f]{32}»/g)!
  assert.equal(first, again, 'the same value has the same placeholder')
  assert.notEqual(first, second)
  assert.deepEqual(reveal(hidden, 'a'), { value, foreign: [], isLost: false })
})

test('hide() finds a known secret in every form that it may take', () => {
  const secret = 'pa+ss/w"ord é?~'
  const { hide, reveal } = openPlain([], [secret])
  const base64 = (prefix: string) => Buffer.from(`${prefix}${secret}:tail`).toString('base64')
  const forms = [
    secret,
    `https://host/?q=${encodeURIComponent(secret)}`,
    `https://host/?q=${encodeURIComponent(secret).toLowerCase()}`,
    new URLSearchParams({ q: secret }).toString(),
    Buffer.from(secret).toString('base64'),
    Buffer.from(secret).toString('base64url'),
    JSON.stringify({ nested: JSON.stringify({ deep: secret }) }),
    base64(''),
    base64('u:'),
    base64('me:'),
    base64('you:').replaceAll('+', '-').replaceAll('/', '_'),
    `see ${Buffer.from(secret).toString('hex')}.`,
    Buffer.from(secret).toString('hex').toUpperCase(),
    `content\n${base64('x'.repeat(40)).replaceAll(/.{60}/g, '$&\n')}`,
    JSON.stringify(base64('x'.repeat(50)).replaceAll(/.{76}/g, '$&\r\n')),
    Buffer.from(base64('me:')).toString('base64'),
    Buffer.from(secret, 'utf16le').toString('latin1'),
    Buffer.from(secret, 'utf16le').swap16().toString('base64'),
  ]
  for (const form of forms) {
    const hidden = hide(form, 'a') as string
    assert.match(hidden, /«secret:/, form)
    for (const part of [secret, 'w%22ord', 'w\\"ord', Buffer.from(secret).toString('base64').slice(4, 16)]) {
      assert.equal(hidden.includes(part), false, `${form} became ${hidden}`)
    }
    assert.equal(reveal(hidden, 'a').value, form)
  }
})

test('hide() finds what a pattern matches in encoded text too, and the same secret has the same placeholder', () => {
  const { hide, reveal } = openPlain(['sk-[a-z0-9]{8,}'], [])
  const rows = ['u:', 'me:', 'you:', 'them:', 'those:'].map((user) =>
    Buffer.from(`{"${user}":"sk-abcdefgh1234"}`).toString('base64'),
  )
  const hidden = hide(rows, 'a') as string[]
  assert.equal(
    hidden.every((text) => text.includes('«secret:')),
    true,
    JSON.stringify(hidden),
  )
  assert.deepEqual(reveal(hidden, 'a').value, rows)
  const many = Array.from({ length: 2000 }, (_, index) =>
    Buffer.from(`${index % 9}: sk-abcdefgh1234, ${index}`).toString('base64'),
  )
  assert.deepEqual(reveal(hide(many, 'a'), 'a').value, many, 'beside others it is no other secret')
})

test('hide() finds every part of a long secret', () => {
  const secret = Array.from({ length: 400 }, (_, i) => `line ${i} of the key\n`).join('')
  const { hide, reveal } = openPlain([], [secret])
  for (const form of [secret, JSON.stringify(secret), Buffer.from(secret).toString('base64'), secret.slice(100)]) {
    const hidden = hide(form, 'a') as string
    assert.ok(hidden.replaceAll(/«secret:[0-9a-f]{32}»/g, '').length < 256, hidden)
    assert.equal(reveal(hidden, 'a').value, form)
  }
})

test('hide() leaves short values of the configuration alone: they are words, not secrets', () => {
  const { hide } = openPlain([], ['short', 'long enough'])
  assert.equal(hide('short', 'a'), 'short')
  assert.match(hide('long enough', 'a') as string, placeholder)
})

test('hide() takes overlapping secrets as one, so that nothing is left over', () => {
  const { hide, reveal } = openPlain(['token=\\w+'], ['abcdefgh-ijkl'])
  const hidden = hide('(token=abcdefgh-ijkl)', 'a') as string
  assert.match(hidden, /^\(«secret:[0-9a-f]{32}»\)$/)
  assert.equal(reveal(hidden, 'a').value, '(token=abcdefgh-ijkl)')
})

test('hide() finds again without its surroundings what a pattern found by them', () => {
  const { hide } = openPlain(['(?<=password: )\\S+'], [])
  const first = hide('password: correct-horse', 'a') as string
  assert.equal(hide('you said correct-horse', 'b'), first.replace('password: ', 'you said '))
})

test('hide() finds it also in what stands before, and with hundreds of them at once', () => {
  const { hide } = openPlain(['(?<=password: )\\S+'], [])
  const found = Array.from({ length: 300 }, (_, index) => `password: secret-${index}-of-many`)
  const alone = found.map((text) => text.replace('password: ', 'you said '))
  const hidden = JSON.stringify(hide([...alone, ...found], 'a'))
  assert.equal(hidden.includes('-of-many'), false)
  assert.equal(hidden.match(/«secret:/g)?.length, 600)
})

test('hideInSlices() hides the same, copies nothing that stays, and lets others have their turn', async () => {
  const rows = Array.from({ length: 100_000 }, (_, index) => ({ id: index, name: `row ${index}`, token: 'plain' }))
  const { hide, hideInSlices } = openPlain(['sk-[a-z0-9]{8,}'], [])
  let turns = 0
  const count = () => {
    turns += 1
    timer = setImmediate(count)
  }
  let timer = setImmediate(count)
  const clean = await hideInSlices(rows as Json, 'a')
  clearImmediate(timer)
  assert.equal(clean, rows, 'nothing was copied')
  assert.ok(turns > 1, 'others had their turn')
  rows[70_000]!.token = 'sk-abcdefgh1'
  const hidden = (await hideInSlices(rows as Json, 'a')) as typeof rows
  assert.deepEqual(hidden, hide(rows as Json, 'a'))
  assert.match(hidden[70_000]!.token, placeholder)
  assert.equal(hidden[69_999], rows[69_999])
})

test('hide() breaks up what only looks like a placeholder, and reveal() leaves strangers alone', () => {
  const { hide, reveal } = openPlain(['sk-[a-z0-9]{8,}'], [])
  const real = hide('sk-abcdefgh1', 'a') as string
  const echoed = hide({ [`say ${real}`]: real }, 'evil')
  assert.equal(JSON.stringify(echoed).includes(real), false)
  assert.deepEqual(reveal(echoed, 'evil'), { value: echoed, foreign: [], isLost: false })
  const unknown = `«secret:${'0'.repeat(32)}»`
  assert.deepEqual(reveal(unknown, 'a'), { value: unknown, foreign: [], isLost: true })
})

test('reveal() puts values back into longer strings and names those of another server', () => {
  const { hide, reveal } = openPlain(['sk-[a-z0-9]{8,}'], [])
  const ours = hide('sk-ours0000', 'a') as string
  const theirs = hide('sk-theirs00', 'b') as string
  const { value, foreign } = reveal({ args: [`Bearer ${ours}`, `${theirs}${theirs}`] }, 'a')
  assert.deepEqual(value, { args: ['Bearer sk-ours0000', 'sk-theirs00sk-theirs00'] })
  assert.deepEqual(foreign, [{ placeholder: theirs, from: 'b' }])
  assert.equal(hide('sk-theirs00', 'a'), theirs, 'whoever says it too, knows it')
  assert.deepEqual(reveal(theirs, 'a').foreign, [])
})

test('placeholders are drawn from the seed and a count, never from the value', () => {
  const first = openPlain(['sk-\\w+'], []).hide('sk-one', 'a')
  assert.equal(openPlain(['sk-\\w+'], []).hide('sk-two', 'a'), first)
})

test('openSecrets() goes on after a resume where the run was', () => {
  const sealed: SealedSecret[] = []
  const before = openPlain(['sk-\\w+'], [], sealed)
  const first = before.hide('sk-one', 'a') as string
  const after = openPlain(['sk-\\w+'], [], sealed)
  assert.equal(after.hide('sk-one', 'a'), first)
  assert.notEqual(after.hide('sk-two', 'a'), first)
  assert.equal(after.reveal(first, 'a').value, 'sk-one')
  assert.equal(sealed.length, 2)
})

test('hide() keeps odd keys and deep values as they are', () => {
  const value = JSON.parse('{"__proto__":{"a":["b"]},"constructor":1,"":null}')
  assert.equal(JSON.stringify(openPlain(['sk-\\w+'], ['long enough']).hide(value, 'a')), JSON.stringify(value))
})

test('openSecrets() refuses a pattern that is none, or that matches everything', () => {
  for (const pattern of ['(', 'a*']) assert.throws(() => openPlain([pattern], []), { code: 'CONFIG_INVALID' })
})

test('hide() refuses a value with more secrets than a run may have, or one that is too long', () => {
  const many = Array.from({ length: 1001 }, (_, i) => `sk-${i}`)
  assert.throws(() => openPlain(['sk-\\w+'], []).hide(many, 'a'), { code: 'RESULT_TOO_LARGE' })
  assert.throws(() => openPlain(['sk-\\w+'], []).hide(`sk-${'x'.repeat(20_000)}`, 'a'), { code: 'RESULT_TOO_LARGE' })
})

test('a record with secrets has no true value in any of its files, also while the run is open', async (t) => {
  const store = await openSample(t)
  const chain = startSample(store, { seed })
  const secrets = openSecrets({ patterns: ['sk-\\w+'], known: ['correct horse battery'], seed, chain })
  await chain.durable()
  const value = secrets.hide({ a: 'sk-secret1234', b: 'the correct horse battery!', c: 'x'.repeat(70_000) }, 'srv')
  chain.append('call.resolved', { call: '1', attempt: 1, outcome: 'answered', ok: true, value, ms: 1, by: 'upstream' })
  await store.send(chain.run, 'approval.answered', {
    approval: 'a',
    call: '1',
    digest: '0',
    answer: 'approved',
    who: 'me',
    from: 'here',
    args: { edited: 'sk-secret1234' },
  })
  await chain.durable()
  const files = () =>
    (readdirSync(store.home, { recursive: true, withFileTypes: true }) as import('node:fs').Dirent[])
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  const search = () =>
    files().filter((file) => /sk-secret1234|correct horse battery/.test(readFileSync(file, 'latin1')))
  assert.ok(files().some((file) => file.endsWith('-wal')))
  assert.deepEqual(search(), [])
  const resumed = await store.takeRun(chain.run)
  const again = openSecrets({ patterns: ['sk-\\w+'], known: [], seed, chain: resumed })
  assert.deepEqual(again.reveal((value as { a: Json }).a, 'srv').value, 'sk-secret1234')
  const [item] = resumed.inbox()
  assert.deepEqual((item!.body as { args: unknown }).args, { edited: 'sk-secret1234' })
  await resumed.finish({ status: 'done', callCount: 1, ms: 1 })
  assert.deepEqual(search(), [])
})

test('hideInSlices() keeps the placeholders that its maker was shown, and breaks up all others', async () => {
  const { hideInSlices, hide } = openPlain(['sk-[a-z0-9]{8,}'], [])
  const shown = hide('sk-abcdefgh1', 'a') as string
  const other = `«secret:${'0'.repeat(32)}»`
  const said = `use ${shown}, not ${other} or «secret:x or sk-abcdefgh1`
  const kept = await hideInSlices(said, 'model', placeholdersIn(`request with ${shown}`))
  assert.equal(kept, `use ${shown}, not ${other.replace('«', '« ')} or « secret:x or ${shown}`)
  assert.equal(await hideInSlices(shown, 'model'), shown.replace('«', '« '))
})
