/**
 * Unpredictable bytes, drawn from the system many at a time: a request for a few costs as much as
 * one for many. Asked of the system itself: every command draws an id, and Node's cryptography
 * longer to load than most of them to answer.
 */
import { closeSync, openSync, readSync } from 'node:fs'

const pool = Buffer.alloc(4096)
let left = 0

function fill(): void {
  const device = openSync('/dev/urandom', 'r')
  try {
    for (let filled = 0; filled < pool.length; ) filled += readSync(device, pool, { offset: filled })
  } finally {
    closeSync(device)
  }
}

/** Each byte is handed out once, and is not kept. */
export function randomBytesPooled(bytes: number): Buffer {
  if (left < bytes) {
    fill()
    left = pool.length
  }
  const taken = Buffer.from(pool.subarray(left - bytes, left))
  pool.fill(0, left - bytes, left)
  left -= bytes
  return taken
}
