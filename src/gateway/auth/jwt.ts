/**
 * Judges a signed token (RFC 7519, RFC 9068): which key must have signed it, whether it did, and
 * whether what it says holds now.
 */
import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto'
import { isObject, limits } from '#model'

type Claims = { subject: string; scopes: ReadonlySet<string> }
type Expected = { issuer: string; audience: string; now: number }
/** Keys that a token may have been signed with; `kid` is undefined where it does not say. */
type KeysFor = (kid: string | undefined) => Promise<readonly JsonWebKey[]>

export class TokenError extends Error {}

/**
 * Of each algorithm the kind of key that it goes with, so that a token cannot choose how its key is
 * used. None of them takes a shared secret.
 */
const algorithms: Record<
  string,
  { kty: string; crv?: string; check: (data: Buffer, key: KeyObject, signature: Buffer) => boolean }
> = {
  RS256: { kty: 'RSA', check: (data, key, signature) => verify('sha256', data, key, signature) },
  PS256: {
    kty: 'RSA',
    check: (data, key, signature) => verify('sha256', data, { key, padding: pss, saltLength: 32 }, signature),
  },
  ES256: {
    kty: 'EC',
    crv: 'P-256',
    check: (data, key, signature) => verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, signature),
  },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', check: (data, key, signature) => verify(null, data, key, signature) },
}
/** RSA_PKCS1_PSS_PADDING. */
const pss = 6
const rsaBitsMin = 2048

export async function verifyToken(token: string, keysFor: KeysFor, expected: Expected): Promise<Claims> {
  if (token.length > limits.jwtCharactersMax) throw new TokenError('it is too long')
  const [head = '', body = '', signature = '', ...rest] = token.split('.')
  if (rest.length > 0 || signature === '') throw new TokenError('it is no signed token')
  const { alg, kid, crit } = parse(head)
  const algorithm = typeof alg === 'string' && Object.hasOwn(algorithms, alg) ? algorithms[alg]! : null
  if (algorithm === null) throw new TokenError('it is not signed with RS256, PS256, ES256 or EdDSA')
  if (crit !== undefined) throw new TokenError('it asks for what we do not know')
  const keys = (await keysFor(typeof kid === 'string' ? kid : undefined)).filter((key) =>
    keyFits(key, String(alg), algorithm),
  )
  const data = Buffer.from(`${head}.${body}`)
  const bytes = Buffer.from(signature, 'base64url')
  const signed = keys
    .slice(0, limits.jwksKeysMax)
    .some((key) => isSignedWith(key, (object) => algorithm.check(data, object, bytes)))
  if (!signed) throw new TokenError('no key of its issuer signed it')
  return verifyClaims(parse(body), expected)
}

function parse(part: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    if (isObject(value)) return value
  } catch {}
  throw new TokenError('it is no signed token')
}

function keyFits(key: JsonWebKey, alg: string, { kty, crv }: { kty: string; crv?: string }): boolean {
  if (key.kty !== kty || (crv !== undefined && key.crv !== crv)) return false
  return (key.alg === undefined || key.alg === alg) && (key.use === undefined || key.use === 'sig')
}

/** A key that cannot be read, or is too short, has signed nothing. */
function isSignedWith(key: JsonWebKey, check: (object: KeyObject) => boolean): boolean {
  try {
    const { kty, n, e, crv, x, y } = key
    const object = createPublicKey({ key: JSON.parse(JSON.stringify({ kty, n, e, crv, x, y })), format: 'jwk' })
    const bits = object.asymmetricKeyDetails?.modulusLength
    return (bits === undefined || bits >= rsaBitsMin) && check(object)
  } catch {
    return false
  }
}

function verifyClaims(claims: Record<string, unknown>, { issuer, audience, now }: Expected): Claims {
  const { iss, aud, exp, nbf, sub, client_id: client, scope, scp } = claims
  const seconds = now / 1000
  const skew = limits.jwtSkewSeconds
  if (iss !== issuer) throw new TokenError('it is from another issuer')
  if (![aud].flat().includes(audience)) throw new TokenError('it is for somebody else')
  if (typeof exp !== 'number' || exp + skew <= seconds) throw new TokenError('it has ended')
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf - skew <= seconds))
    throw new TokenError('it does not hold yet')
  const subject = typeof sub === 'string' && sub !== '' ? sub : client
  if (typeof subject !== 'string' || subject === '') throw new TokenError('it does not say whose it is')
  const scopes = [scope, scp].flat().flatMap((text) => (typeof text === 'string' ? text.split(' ') : []))
  return { subject: subject.slice(0, limits.clientNameCharactersMax), scopes: new Set(scopes.filter(Boolean)) }
}
