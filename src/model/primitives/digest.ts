/**
 * SHA-256, the one digest of the product, in one call. What comes in pieces is hashed as it comes.
 */
import { hash } from 'node:crypto'

/** In hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data)
}

export function sha256Bytes(data: string | Uint8Array): Buffer {
  return hash('sha256', data, 'buffer')
}
