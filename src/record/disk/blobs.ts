/** Large values, each in a file named by the SHA-256 of its bytes. */
import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, type BlobReference, replaceFile, sha256 } from '#model'

export type BlobBytes = { digest: string; bytes: Uint8Array }

/**
 * Writes the blob unless it is there. Either way the folder must be synced before the blob is
 * named.
 */
export function writeBlob(folder: string, { digest, bytes }: BlobBytes): void {
  const file = join(folder, digest)
  if (existsSync(file)) return
  replaceFile(file, bytes, { isDurable: true })
}

/** The bytes of a blob, or what is wrong with it. */
export function openBlob(folder: string, { $blob: digest, bytes }: BlobReference): Buffer | string {
  if (!/^[0-9a-f]{64}$/.test(digest)) return 'its blob reference is no digest'
  try {
    const content = readFileSync(join(folder, digest))
    return content.length === bytes && sha256(content) === digest ? content : `its blob ${digest} was changed`
  } catch (error) {
    return `its blob ${digest} cannot be read: ${(error as Error).message}`
  }
}

/** The text of a blob, checked against its digest. */
export function readBlob(folder: string, reference: BlobReference): string {
  const content = openBlob(folder, reference)
  if (typeof content !== 'string') return content.toString()
  throw unreadable(content, reference)
}

/**
 * So many bytes from its start, for a preview: whether they are the recorded ones is not checked.
 */
export function readBlobStart(folder: string, reference: BlobReference, bytesMax: number): string {
  try {
    const descriptor = openSync(join(folder, reference.$blob), 'r')
    try {
      const bytes = Buffer.alloc(Math.min(bytesMax, reference.bytes))
      // What is cut off in the middle of a character is left out.
      return new TextDecoder().decode(bytes.subarray(0, readSync(descriptor, bytes)), { stream: true })
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    throw unreadable(`its blob ${reference.$blob} cannot be read: ${(error as Error).message}`, reference)
  }
}

function unreadable(why: string, reference: BlobReference): AppError {
  const next = 'Run "metier audit verify", and restore the file from a backup'
  return new AppError('LEDGER_BROKEN', `Cannot read a recorded value: ${why}. ${next}`, { digest: reference.$blob })
}
