/**
 * Artifacts: files that are stored once, addressed by id and by digest. The seam that every driver
 * passes the same contract for.
 */
import { AppError, type ArtifactId, crypto, limits, newId, parseId } from '#model'
import { artifactName } from './artifact-name.ts'

export type ArtifactInput = {
  /** Derived by the caller, so that a repeated try stores nothing twice; absent: a new one. */
  id?: ArtifactId
  /** The run, task or mission that it belongs to. */
  owner: string
  /** Whose call stores it, where a node must follow: a sweep asks the record of this run. */
  run?: string
  name: string
  /** Media type. */
  type: string
  /** The exact length; a content that is shorter or longer is refused. */
  bytes: number
  content: AsyncIterable<Uint8Array>
  signal?: AbortSignal
}

export type Artifact = {
  id: ArtifactId
  /** `artifacts/<id>/<name>` */
  path: string
  name: string
  type: string
  owner: string
  run?: string
  bytes: number
  /** SHA-256 in hexadecimal. */
  digest: string
}

export type Artifacts = {
  /** What a run is bound to: driver, server, bucket; nothing secret. */
  address: Record<string, string>
  put(input: ArtifactInput): Promise<Artifact>
  /**
   * By id or path; null where there is none. The content is checked against length and digest while
   * it is read.
   */
  get(idOrPath: string, signal?: AbortSignal): Promise<(Artifact & { content: AsyncIterable<Uint8Array> }) | null>
  /** Newest first. */
  list(signal?: AbortSignal): Promise<Artifact[]>
  /** Those that were stored before a time, without what is known of them. */
  storedBefore(time: Date, signal?: AbortSignal): Promise<{ id: ArtifactId; path: string }[]>
  /** Whole, in one step; nothing happens where there is none. */
  remove(path: string, signal?: AbortSignal): Promise<void>
  /** Halves that killed processes began to store before a time. */
  removeUnfinished(time: Date, signal?: AbortSignal): Promise<void>
}

/** RFC 6838 §4.2: each name begins with a letter or digit and has at most 127 characters. */
const typePattern = /^[a-z\d][\w!#$&^.+-]{0,126}\/[a-z\d][\w!#$&^.+-]{0,126}( *;[ -~]{1,255})?$/i

type ParsedInput = { id: ArtifactId; owner: string; name: string; run?: string }

/** Every parameter checked before a byte is read. */
export function parseArtifactInput(
  { id, owner, run, name, type, bytes }: ArtifactInput,
  bytesMax: number = limits.artifactBytesMax,
): ParsedInput {
  const own = id === undefined ? newId<ArtifactId>() : parseId<ArtifactId>('id', id)
  const by = run === undefined ? {} : { run: parseId('run', run) as string }
  const parsed = { id: own, owner: parseId('owner', owner), ...by, name: artifactName(name) }
  if (!typePattern.test(type)) throw invalid('type', 'must be a media type such as text/plain', type)
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw invalid('bytes', 'must be a whole number of bytes', bytes)
  if (bytes > bytesMax) {
    const message = `Cannot store "${name}": ${bytes} bytes are over the limit of ${bytesMax}`
    throw new AppError('S3_SIZE_LIMIT_EXCEEDED', message, { bytes, max: bytesMax })
  }
  return parsed
}

/** What is stored under an id that was given again: the same content, or the try is refused. */
export function sameArtifact(stored: Artifact, digest: string): Artifact {
  if (stored.digest === digest) return stored
  throw invalid('id', 'is the id of an artifact with other content', stored.id)
}

/** An id, or a path `artifacts/<id>/<name>`: nothing else reaches a driver. */
export function parseArtifactAddress(idOrPath: string): { id: ArtifactId; name: string | null } {
  if (!idOrPath.includes('/')) return { id: parseId('id', idOrPath), name: null }
  const [, id, name] = /^artifacts\/([^/]+)\/([A-Za-z0-9_-][A-Za-z0-9._-]{0,254})$/.exec(idOrPath) ?? []
  if (id === undefined || name === undefined) throw invalid('path', 'must look like artifacts/<id>/<name>', idOrPath)
  return { id: parseId('path', id), name }
}

/**
 * Passes bytes on while it counts and hashes them; fails when there are more or fewer than
 * announced.
 */
export async function* exactly(bytes: number, content: AsyncIterable<Uint8Array>, seen: (digest: string) => void) {
  const hash = crypto().createHash('sha256')
  let count = 0
  for await (const chunk of content) {
    count += chunk.length
    if (count > bytes) break
    hash.update(chunk)
    yield chunk
  }
  if (count !== bytes) {
    throw invalid('bytes', `${count > bytes ? 'more than' : `${count} of`} the announced ${bytes} bytes came`, bytes)
  }
  seen(hash.digest('hex'))
}

/** Reads a content to its end for its digest alone, and keeps nothing of it. */
export async function digestOf({ bytes, content, signal }: ArtifactInput): Promise<string> {
  let digest = ''
  const source = signal ? untilAborted(content, signal) : content
  for await (const _ of exactly(bytes, source, (seen) => (digest = seen)));
  return digest
}

/** The same content, given up at once when the signal says so, even while the source is stuck. */
export async function* untilAborted(content: AsyncIterable<Uint8Array>, signal: AbortSignal) {
  const aborted = Promise.withResolvers<never>()
  aborted.promise.catch(() => {})
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  const source = content[Symbol.asyncIterator]()
  let isOver = false
  try {
    signal.throwIfAborted()
    for (;;) {
      const next = await Promise.race([source.next(), aborted.promise])
      isOver = next.done === true
      if (next.done) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', abort)
    if (!isOver) void source.return?.().catch(() => {})
  }
}

function invalid(param: string, details: string, value: unknown): AppError {
  return new AppError('INVALID_INPUT_PARAM', `Cannot use "${param}" of an artifact: ${details}`, {
    param,
    details,
    value,
  })
}
