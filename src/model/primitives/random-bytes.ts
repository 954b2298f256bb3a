/**
 * Unpredictable bytes, drawn from the system many at a time: a request for a few costs as much as
 * one for many.
 */
import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4096)
let left = 0

/** Each byte is handed out once, and is not kept. */
export function randomBytesPooled(bytes: number): Buffer {
  if (left < bytes) {
    randomFillSync(pool)
    left = pool.length
  }
  const taken = Buffer.from(pool.subarray(left - bytes, left))
  pool.fill(0, left - bytes, left)
  left -= bytes
  return taken
}
