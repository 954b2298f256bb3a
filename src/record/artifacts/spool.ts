/**
 * Keeps a content until its length and digest are known, so that it can be signed before it is sent
 * and sent again: in memory where there is room, else in a file without a name.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { limits, newId } from '#model'
import { type ArtifactInput, exactly, untilAborted } from './artifact.ts'

export type Spool = AsyncDisposable & {
  bytes: number
  digest: string
  /** From `start` up to and without `end`. A piece holds until the next one is asked for. */
  read(start: number, end: number): AsyncIterable<Uint8Array>
}

type Spooler = (input: ArtifactInput) => Promise<Spool>

/** Fails where more or fewer bytes come than were announced. Files stand in `folder`. */
export function openSpooler(folder: string): Spooler {
  /** Bytes of contents that are not small and wait in memory. */
  let held = 0
  return async (input) => {
    const { bytes } = input
    if (bytes <= limits.s3MemoryBytesMax) return inMemory(input, () => {})
    if (held + bytes > limits.s3MemoryTogetherBytesMax) return inFile(input, folder)
    held += bytes
    return inMemory(input, () => {
      held -= bytes
    })
  }
}

type Source = { source: AsyncIterable<Uint8Array>; digest(): string }

function sourceOf({ bytes, content, signal }: ArtifactInput): Source {
  let digest = ''
  const source = exactly(bytes, signal ? untilAborted(content, signal) : content, (seen) => {
    digest = seen
  })
  return { source, digest: () => digest }
}

async function inMemory(input: ArtifactInput, release: () => void): Promise<Spool> {
  const { source, digest } = sourceOf(input)
  const whole = Buffer.allocUnsafeSlow(input.bytes)
  try {
    let filled = 0
    for await (const piece of source) {
      whole.set(piece, filled)
      filled += piece.length
    }
  } catch (error) {
    release()
    throw error
  }
  const read = async function* (start: number, end: number) {
    for (let from = start; from < end; from += limits.s3PieceBytes)
      yield whole.subarray(from, Math.min(from + limits.s3PieceBytes, end))
  }
  return { bytes: input.bytes, digest: digest(), read, [Symbol.asyncDispose]: async () => release() }
}

async function inFile(input: ArtifactInput, folder: string): Promise<Spool> {
  const { source, digest } = sourceOf(input)
  const handle = await openNameless(folder)
  try {
    await writeAll(handle, source)
  } catch (error) {
    await handle.close()
    throw error
  }
  const read = (start: number, end: number) => piecesOf(handle, start, end)
  return { bytes: input.bytes, digest: digest(), read, [Symbol.asyncDispose]: () => handle.close() }
}

/** In one buffer that is filled again and again: many uploads at once need little memory. */
async function* piecesOf(handle: FileHandle, start: number, end: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(limits.s3PieceBytes, end - start))
  for (let from = start; from < end; from += buffer.length) {
    const length = Math.min(buffer.length, end - from)
    const { bytesRead } = await handle.read(buffer, 0, length, from)
    if (bytesRead < length) throw new Error('the file that the upload waits in was cut')
    yield buffer.subarray(0, length)
  }
}

/** Small pieces are gathered first: each write is a hop to another thread and back. */
async function writeAll(handle: FileHandle, source: AsyncIterable<Uint8Array>): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(limits.s3PieceBytes)
  let filled = 0
  const flush = async () => {
    for (let from = 0; from < filled; ) from += (await handle.write(buffer, from, filled - from)).bytesWritten
    filled = 0
  }
  for await (const piece of source)
    for (let from = 0; from < piece.length; ) {
      const taken = Math.min(piece.length - from, buffer.length - filled)
      buffer.set(piece.subarray(from, from + taken), filled)
      filled += taken
      from += taken
      if (filled === buffer.length) await flush()
    }
  await flush()
}

/** Of a part, before it is sent. */
export async function digestOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of content) hash.update(piece)
  return hash.digest('hex')
}

/** Gone with this process, whatever ends it. */
async function openNameless(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `.${newId()}.upload`)
  const handle = await open(path, 'wx+', 0o600)
  await unlink(path)
  return handle
}
