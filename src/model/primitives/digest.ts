/**
 * SHA-256, the one digest of the product, in one call. What comes in pieces is hashed as it comes.
 */
import { crypto } from './crypto.ts'

/** In hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return crypto().hash('sha256', data)
}

export function sha256Bytes(data: string | Uint8Array): Buffer {
  return crypto().hash('sha256', data, 'buffer')
}
