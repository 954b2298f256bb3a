/** The SHA-256 of a file, read in pieces: memory does not grow with the file. */
import { closeSync, openSync, readSync } from 'node:fs'
import { crypto, limits } from '#model'

export function digestOfFile(file: string): { bytes: number; digest: string } {
  const hash = crypto().createHash('sha256')
  let bytes = 0
  for (const piece of piecesOf(file)) {
    hash.update(piece)
    bytes += piece.length
  }
  return { bytes, digest: hash.digest('hex') }
}

/**
 * The bytes of a file in order. One buffer serves for all: a piece is good until the next is asked
 * for.
 */
export function* piecesOf(file: string): Generator<Buffer> {
  const buffer = Buffer.allocUnsafe(limits.filePieceBytes)
  const descriptor = openSync(file, 'r')
  try {
    for (;;) {
      const count = readSync(descriptor, buffer)
      if (count === 0) return
      yield buffer.subarray(0, count)
    }
  } finally {
    closeSync(descriptor)
  }
}
