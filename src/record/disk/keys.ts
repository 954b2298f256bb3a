/**
 * The home's two keys: one signs checkpoints, one seals secrets. Made at the first need, readable
 * by their owner only.
 */
import type { KeyObject } from 'node:crypto'
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { crypto } from '#model'
import { syncFolder } from './sync-folder.ts'

export function sealingKey(folder: string): Buffer {
  return Buffer.from(
    readOrCreate(join(folder, 'seal.key'), () => `${crypto().randomBytes(32).toString('hex')}\n`).trim(),
    'hex',
  )
}

/**
 * The key that seals, or null where the home's keys are not at hand: nothing is made by who only
 * looks.
 */
export function knownSealingKey(folder: string): Buffer | null {
  try {
    return Buffer.from(readFileSync(join(folder, 'seal.key'), 'utf8').trim(), 'hex')
  } catch {
    return null
  }
}

export function signingKey(folder: string): KeyObject {
  const pem = () =>
    crypto().generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return crypto().createPrivateKey(readOrCreate(join(folder, 'sign.pem'), pem))
}

/** The public half as 64 hexadecimal digits. */
export function publicKeyOf(key: KeyObject): string {
  return Buffer.from(crypto().createPublicKey(key).export({ format: 'jwk' }).x!, 'base64url').toString('hex')
}

/** The home's public key, or null where its keys are not at hand. */
export function knownPublicKey(folder: string): string | null {
  try {
    return publicKeyOf(crypto().createPrivateKey(readFileSync(join(folder, 'sign.pem'))))
  } catch {
    return null
  }
}

export function signText(text: string, key: KeyObject): string {
  return signBytes(Buffer.from(text), key).toString('hex')
}

export function signBytes(bytes: Uint8Array, key: KeyObject): Buffer {
  return crypto().sign(null, bytes, key)
}

export function isSigned(text: string, signature: string, publicKey: string): boolean {
  try {
    const x = Buffer.from(publicKey, 'hex').toString('base64url')
    const key = crypto().createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
    return crypto().verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'))
  } catch {
    return false
  }
}

/** Several processes may come first at once: the one whose link succeeds has made the key. */
function readOrCreate(file: string, make: () => string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const draft = `${file}.${crypto().randomBytes(8).toString('hex')}`
  writeFileSync(draft, make(), { mode: 0o600, flush: true })
  try {
    linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
  syncFolder(dirname(file))
  return readFileSync(file, 'utf8')
}
