/**
 * Tests of signed tokens and of the keys that they are judged by: what is taken, every forgery that
 * is not, and how often an issuer is asked.
 */
import assert from 'node:assert/strict'
import { createPublicKey, sign } from 'node:crypto'
import test from 'node:test'
import { limits } from '#model'
import { type Algorithm, newKey, openIssuer, signed, signedWithSecret } from '#test/gateway'
import { openJwks } from './jwks.ts'
import { TokenError, verifyToken } from './jwt.ts'

const now = 1_800_000_000_000
const seconds = now / 1000
const expected = { issuer: 'https://issuer.example', audience: 'https://metier.example/mcp', now }
const claims = { iss: expected.issuer, aud: expected.audience, sub: 'ada', exp: seconds + 60 }
const algorithms: Algorithm[] = ['RS256', 'PS256', 'ES256', 'EdDSA']

test('verifyToken() takes a token of each algorithm, and says whose it is and what it allows', async () => {
  for (const alg of algorithms) {
    const key = newKey('a', alg)
    const judge = (more: object) => verifyToken(signed(key, { ...claims, ...more }), async () => [key.jwk], expected)
    assert.deepEqual(await judge({ scope: 'read write' }), { subject: 'ada', scopes: new Set(['read', 'write']) }, alg)
    assert.deepEqual(await judge({ sub: undefined, client_id: 'robot', scp: ['read'] }), {
      subject: 'robot',
      scopes: new Set(['read']),
    })
    assert.equal(
      (await judge({ aud: ['x', expected.audience], exp: seconds - limits.jwtSkewSeconds + 1, nbf: seconds + 5 }))
        .subject,
      'ada',
    )
  }
})

test('verifyToken() refuses what does not hold: another issuer, another audience, another time, nobody', async () => {
  const key = newKey('a')
  const wrong = [
    ...[
      { iss: 'https://issuer.example/' },
      { iss: undefined },
      { aud: 'https://metier.example' },
      { aud: [] },
      { aud: undefined },
    ],
    ...[
      { exp: seconds - limits.jwtSkewSeconds },
      { exp: undefined },
      { exp: '9999999999' },
      { nbf: seconds + 60 },
      { nbf: 'x' },
    ],
    ...[{ sub: undefined }, { sub: '' }, { sub: 7 }],
  ]
  for (const more of wrong)
    await assert.rejects(
      verifyToken(signed(key, { ...claims, ...more }), async () => [key.jwk], expected),
      TokenError,
      JSON.stringify(more),
    )
})

test('verifyToken() refuses forgeries: none, a public key taken for a secret, another kind of key, other bytes', async () => {
  const [rsa, ec, other] = [newKey('a', 'RS256'), newKey('a', 'ES256'), newKey('a', 'RS256')]
  const pem = createPublicKey({ key: rsa.jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString()
  const [head = '', body = '', signature = ''] = signed(rsa, claims).split('.')
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const small = newKey('a', 'RS256')
  const forged = {
    none: `${encode({ alg: 'none' })}.${body}.`,
    None: `${encode({ alg: 'None', kid: 'a' })}.${body}.${signature}`,
    'shared secret': signedWithSecret(pem, claims, { alg: 'HS256', kid: 'a' }),
    'secret as RS256': signedWithSecret(pem, claims, { alg: 'RS256', kid: 'a' }),
    'another key': signed(other, claims),
    'PS256 with the signature of RS256': `${encode({ alg: 'PS256', kid: 'a' })}.${body}.${signature}`,
    'the kind of another key': signed(ec, claims, { alg: 'RS256' }),
    'another body': `${head}.${encode({ ...claims, sub: 'eve' })}.${signature}`,
    'a critical header': signed(rsa, claims, { crit: ['b64'], b64: false }),
    'a key of its own': signed(other, claims, { jwk: other.jwk }),
    'a name that objects inherit': signed(rsa, claims, { alg: 'toString' }),
    'no signature': `${head}.${body}.`,
    'two parts': `${head}.${body}`,
    'five parts': `${head}.${body}.${signature}.x.y`,
    'no JSON': `!!!.${body}.${signature}`,
    'too long': `${head}.${'x'.repeat(limits.jwtCharactersMax)}.${signature}`,
    nothing: '',
  }
  for (const [name, token] of Object.entries(forged))
    await assert.rejects(
      verifyToken(token, async () => [rsa.jwk, { kty: 'oct', kid: 'a', k: encode({}) }], expected),
      TokenError,
      name,
    )
  const encryption = async () => [{ ...small.jwk, use: 'enc' }]
  await assert.rejects(verifyToken(signed(small, claims), encryption, expected), TokenError, 'a key for something else')
  const pinned = async () => [{ ...small.jwk, alg: 'PS256' }]
  await assert.rejects(verifyToken(signed(small, claims), pinned, expected), TokenError, 'a key for another algorithm')
  const data = `${encode({ alg: 'RS256', kid: 'a' })}.${body}`
  const crossed = `${data}.${sign('sha256', Buffer.from(data), ec.privateKey).toString('base64url')}`
  await assert.rejects(
    verifyToken(crossed, async () => [ec.jwk], expected),
    TokenError,
    'a key of another kind',
  )
  assert.equal((await verifyToken(signed(rsa, claims), async () => [other.jwk, rsa.jwk], expected)).subject, 'ada')
})

test('openJwks() finds the keys of an issuer with a path, keeps them, and follows a rotation', async (t) => {
  let time = 0
  const issuer = await openIssuer(t, [newKey('one')], '/tenant')
  const jwks = openJwks(issuer.url, { now: () => time })
  const kids = async (kid?: string) => (await jwks.keysFor(kid)).map((key) => key.kid)
  assert.deepEqual(await kids('one'), ['one'])
  assert.deepEqual(await kids('one'), ['one'])
  assert.equal(issuer.asked, 1)
  issuer.keys = [newKey('two')]
  time += limits.jwksCoolDownMs
  assert.deepEqual(await kids('two'), ['two'])
  assert.deepEqual([await kids('one'), issuer.asked], [[], 2])
})

test('openJwks() is not made to ask by strangers, nor at once by many', async (t) => {
  let time = 0
  const issuer = await openIssuer(t, [newKey('one')])
  const jwks = openJwks(issuer.url, { now: () => time })
  await Promise.all(Array.from({ length: 50 }, (_, at) => jwks.keysFor(`forged-${at}`)))
  for (let at = 0; at < 50; at++) await jwks.keysFor(`forged-${at}`)
  assert.equal(issuer.asked, 1)
  time += limits.jwksCoolDownMs
  await Promise.all(Array.from({ length: 50 }, (_, at) => jwks.keysFor(`forged-${at}`)))
  assert.equal(issuer.asked, 2)
})

test('openJwks() lives with an issuer that is away for a while, and trusts no key for ever', async (t) => {
  let time = 0
  const log: string[] = []
  const issuer = await openIssuer(t, [newKey('one')])
  const jwks = openJwks(issuer.url, { now: () => time, log: (line) => log.push(line) })
  issuer.down = true
  await assert.rejects(jwks.keysFor('one'), { code: 'UPSTREAM_UNREACHABLE' })
  assert.match(log[0]!, /cannot read the keys/)
  issuer.down = false
  time += limits.jwksCoolDownMs
  assert.equal((await jwks.keysFor('one')).length, 1)
  issuer.down = true
  time += limits.jwksMsMax + 1
  assert.equal((await jwks.keysFor('one')).length, 1, 'what we know is still good')
  time += limits.jwksStaleMsMax
  await assert.rejects(jwks.keysFor('one'), { code: 'UPSTREAM_UNREACHABLE' })
  issuer.down = false
  time += limits.jwksCoolDownMs
  const stranger = openJwks(`${issuer.url}/`, { now: () => time })
  await assert.rejects(stranger.keysFor('one'), { code: 'UPSTREAM_UNREACHABLE' }, 'an issuer is one by its own word')
})
