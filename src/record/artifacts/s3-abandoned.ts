/**
 * Takes back uploads in parts that failed; where the server is away, before the next upload of this
 * process.
 */
import { limits } from '#model'
import type { Bucket } from './s3-bucket.ts'
import { S3Fault } from './s3-error.ts'
import { elementsOf, textOf } from './s3-xml.ts'

type Abandoned = {
  /** Of an upload whose id is not known: its answer was lost. */
  note(key: string): void
  takeBack(key: string, uploadId: string): Promise<void>
  /** Tries again what is left, but not under keys that are being written to. */
  sweep(isActive: (key: string) => boolean): Promise<void>
}

export function openAbandoned(bucket: Bucket): Abandoned {
  const keys = new Set<string>()

  const note = (key: string) => {
    if (keys.size < limits.s3AbandonedMax) keys.add(key)
  }

  async function abortAll(prefix: string): Promise<void> {
    for (const { key, uploadId } of await uploadsUnder(bucket, prefix)) {
      if (key === prefix) await abort(bucket, key, uploadId)
    }
  }

  return {
    note,
    takeBack: (key, uploadId) => abort(bucket, key, uploadId).catch(() => note(key)),
    async sweep(isActive) {
      for (const key of [...keys].filter((key) => !isActive(key))) {
        // Taken off first, so that uploads at the same time do not all look for the same.
        if (keys.delete(key)) await abortAll(key).catch(() => note(key))
      }
    },
  }
}

/**
 * Of killed processes. A server that lists only uploads of an exact key, as MinIO does, ends old
 * ones by itself.
 */
export async function abortOld(bucket: Bucket, prefix: string, time: Date, signal?: AbortSignal): Promise<void> {
  for (const { key, uploadId, at } of await uploadsUnder(bucket, prefix, signal)) {
    if (new Date(at) < time) await abort(bucket, key, uploadId)
  }
}

async function abort(bucket: Bucket, key: string, uploadId: string): Promise<void> {
  await bucket.send({ method: 'DELETE', key, query: { uploadId } }).catch((error) => {
    if (!(error instanceof S3Fault && error.code === 'NoSuchUpload')) throw error
  })
}

type OpenUpload = { key: string; uploadId: string; at: string }

async function uploadsUnder(bucket: Bucket, prefix: string, signal?: AbortSignal): Promise<OpenUpload[]> {
  const { text } = await bucket.send({ method: 'GET', query: { uploads: '', prefix }, signal })
  return elementsOf(text, 'Upload').flatMap((upload) => {
    const [key, uploadId, at] = ['Key', 'UploadId', 'Initiated'].map((name) => textOf(upload, name))
    return key && uploadId ? [{ key, uploadId, at: at ?? '' }] : []
  })
}
