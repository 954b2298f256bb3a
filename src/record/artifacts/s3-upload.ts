/**
 * Uploads a spooled content under a key that must be free: in one request, or in parts that are
 * taken back when anything fails.
 */
import { Readable } from 'node:stream'
import { limits, sha256 } from '#model'
import { openAbandoned } from './s3-abandoned.ts'
import type { Body, Bucket } from './s3-bucket.ts'
import { mayPass, S3Fault } from './s3-error.ts'
import { escaped, textOf } from './s3-xml.ts'
import { digestOf, type Spool } from './spool.ts'

type Upload = { key: string; headers: Record<string, string>; spool: Spool; signal: AbortSignal | undefined }

/** False where the key is taken. */
type Uploader = (upload: Upload) => Promise<boolean>

const ifFree = { 'if-none-match': '*' }

export function openUploader(bucket: Bucket): Uploader {
  const active = new Set<string>()
  const abandoned = openAbandoned(bucket)

  async function create(key: string, headers: Record<string, string>): Promise<string> {
    try {
      // Not cancelled: only who has its id can take the upload back.
      const { text } = await bucket.send({ method: 'POST', key, query: { uploads: '' }, headers, isOnce: true })
      return textOf(text, 'UploadId') ?? ''
    } catch (error) {
      if (mayPass(error)) abandoned.note(key)
      throw error
    }
  }

  async function putParts({ key, headers, spool, signal }: Upload): Promise<void> {
    signal?.throwIfAborted()
    const uploadId = await create(key, headers)
    try {
      const parts: string[] = []
      for (let start = 0; start < spool.bytes; start += limits.s3PartBytes) {
        const query = { uploadId, partNumber: String(parts.length + 1) }
        const body = await partOf(spool, start, Math.min(start + limits.s3PartBytes, spool.bytes))
        const { headers } = await bucket.send({ method: 'PUT', key, query, body, signal })
        parts.push(headers.etag ?? '')
      }
      const body = listOf(parts)
      await bucket.send({ method: 'POST', key, query: { uploadId }, headers: ifFree, body, signal })
    } catch (error) {
      await abandoned.takeBack(key, uploadId)
      throw error
    }
  }

  async function putWhole({ key, headers, spool, signal }: Upload): Promise<void> {
    const { bytes, digest } = spool
    const body = { bytes, digest, open: () => spool.read(0, bytes) }
    await bucket.send({ method: 'PUT', key, headers: { ...headers, ...ifFree }, body, signal })
  }

  return async (upload) => {
    await abandoned.sweep((key) => active.has(key))
    active.add(upload.key)
    try {
      await (upload.spool.bytes > limits.s3SinglePutBytesMax ? putParts(upload) : putWhole(upload))
      return true
    } catch (error) {
      // An upload that is unknown at its end was ended by a try whose answer was lost.
      if (error instanceof S3Fault && ['PreconditionFailed', 'NoSuchUpload'].includes(error.code)) return false
      throw error
    } finally {
      active.delete(upload.key)
    }
  }
}

async function partOf(spool: Spool, start: number, end: number): Promise<Body> {
  const open = () => spool.read(start, end)
  return { bytes: end - start, digest: await digestOf(open()), open }
}

function listOf(etags: readonly string[]): Body {
  const parts = etags.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escaped(etag)}</ETag></Part>`)
  const bytes = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
  return { bytes: bytes.length, digest: sha256(bytes), open: () => Readable.from([bytes]) }
}
