/** Sealing: a text that only this home can read again, bound to the place it belongs to. */
import { AppError, crypto } from '#model'

const nonceBytes = 12
const tagBytes = 16

/**
 * Nonce, tag and AES-256-GCM text. `place` is authenticated: what is moved elsewhere does not open.
 */
export function sealText(text: string, place: string, key: Uint8Array): Uint8Array {
  const nonce = crypto().randomBytes(nonceBytes)
  const cipher = crypto().createCipheriv('aes-256-gcm', key, nonce)
  cipher.setAAD(Buffer.from(place))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Uint8Array.from(Buffer.concat([nonce, cipher.getAuthTag(), sealed]))
}

export function openSealed(sealed: Uint8Array, place: string, key: Uint8Array): string {
  try {
    const decipher = crypto().createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    })
    decipher.setAAD(Buffer.from(place))
    decipher.setAuthTag(sealed.subarray(nonceBytes, nonceBytes + tagBytes))
    return Buffer.concat([decipher.update(sealed.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8')
  } catch (error) {
    const state = 'it was changed, or sealed with another key'
    throw new AppError('LEDGER_BROKEN', `Cannot open what was sealed: ${state}. Restore the home's keys/`, {}, error)
  }
}

/** What a sealed value is bound to. */
export function sealContext(run: string, placeholder: string, server: string): string {
  return JSON.stringify([run, placeholder, server])
}
