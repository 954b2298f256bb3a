/**
 * What the tests of tokens share: an issuer on loopback with keys that it rotates, and tokens of
 * every kind, good and forged.
 */
import { createHmac, createSign, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export type Algorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA'
export type Key = { kid: string; alg: Algorithm; privateKey: KeyObject; jwk: JsonWebKey }

export function newKey(kid: string, alg: Algorithm = 'ES256'): Key {
  const { privateKey, publicKey } = pairOf(alg)
  return { kid, alg, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' } }
}

function pairOf(alg: Algorithm) {
  if (alg === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return alg === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('rsa', { modulusLength: 2048 })
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** `head` overrides what a right token would say of itself. */
export function signed(key: Key, claims: object, head: object = {}): string {
  const data = `${encode({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...head })}.${encode(claims)}`
  return `${data}.${signatureOf(key, Buffer.from(data)).toString('base64url')}`
}

function signatureOf({ alg, privateKey: key }: Key, data: Buffer): Buffer {
  if (alg === 'EdDSA') return sign(null, data, key)
  if (alg === 'ES256') return sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' })
  if (alg === 'PS256') return sign('sha256', data, { key, padding: 6, saltLength: 32 })
  return createSign('sha256').update(data).sign(key)
}

/** With a shared secret, as a server that takes a public key for one would believe. */
export function signedWithSecret(secret: string, claims: object, head: object): string {
  const data = `${encode(head)}.${encode(claims)}`
  return `${data}.${createHmac('sha256', secret).update(data).digest('base64url')}`
}

export type Issuer = {
  url: string
  keys: Key[]
  asked: number
  down: boolean
  claims(audience: string, more?: object): object
}

export async function openIssuer(t: TestContext, keys: Key[], path = ''): Promise<Issuer> {
  const issuer: Issuer = {
    ...{ url: '', keys, asked: 0, down: false },
    claims: (aud, more = {}) => ({
      iss: issuer.url,
      aud,
      sub: 'ada',
      exp: Math.floor(Date.now() / 1000) + 300,
      ...more,
    }),
  }
  const server = createServer((request, response) => {
    const say = (value: object) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
    if (issuer.down) return response.writeHead(503).end()
    if (request.url === `/.well-known/oauth-authorization-server${path}`)
      return say({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys` })
    if (request.url !== `${path}/keys`) return response.writeHead(404).end()
    issuer.asked++
    return say({ keys: issuer.keys.map(({ jwk }) => jwk) })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  return issuer
}
