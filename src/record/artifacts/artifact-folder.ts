/**
 * Artifacts in a folder: `<id>/<name>`, and beside it what is known of it; whole or not there, and
 * never overwritten.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError, type ArtifactId, isUuid, newId } from '#model'
import { storeError } from '#record/disk'
import {
  type Artifact,
  type ArtifactInput,
  type Artifacts,
  digestOf,
  exactly,
  parseArtifactAddress,
  parseArtifactInput,
  sameArtifact,
  untilAborted,
} from './artifact.ts'

/** No artifact has this name: theirs never begin with a dot. */
export const artifactCardName = '.artifact.json'

export function openArtifactFolder(folder: string): Artifacts {
  async function put(input: ArtifactInput): Promise<Artifact> {
    const parsed = parseArtifactInput(input)
    const stored = input.id === undefined ? null : await readCard(parsed.id)
    try {
      return stored === null ? await write(parsed, input) : sameArtifact(stored, await digestOf(input))
    } catch (error) {
      throw uploadError(error, input)
    }
  }

  async function write({ id, owner, run, name }: ReturnType<typeof parseArtifactInput>, input: ArtifactInput) {
    // Not named after the id: two processes may be storing the same one.
    const draft = draftIn(folder)
    try {
      await mkdir(draft, { recursive: true, mode: 0o700 })
      const digest = await writeExactly(join(draft, name), input)
      const { type, bytes } = input
      const artifact = { id, path: `artifacts/${id}/${name}`, name, type, owner, ...(run && { run }), bytes, digest }
      await writeFile(join(draft, artifactCardName), `${JSON.stringify(artifact)}\n`, { mode: 0o600, flush: true })
      await sync(draft)
      return await publish(draft, artifact)
    } catch (error) {
      await rm(draft, { recursive: true, force: true })
      throw error
    }
  }

  /** Moved to its place in one step; where another process was faster, its artifact counts. */
  async function publish(draft: string, artifact: Artifact): Promise<Artifact> {
    try {
      await rename(draft, join(folder, artifact.id))
      await sync(folder)
      return artifact
    } catch (error) {
      const stored = isTaken(error) ? await readCard(artifact.id) : null
      if (stored === null) throw error
      await rm(draft, { recursive: true, force: true })
      return sameArtifact(stored, artifact.digest)
    }
  }

  async function readCard(id: ArtifactId): Promise<Artifact | null> {
    try {
      return JSON.parse(await readFile(join(folder, id, artifactCardName), 'utf8'))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
      throw downloadError(id, error)
    }
  }

  return {
    address: { driver: 'dir' },
    put,
    async get(idOrPath) {
      const { id, name } = parseArtifactAddress(idOrPath)
      const card = await readCard(id)
      if (!card || (name !== null && name !== card.name)) return null
      return { ...card, content: readChecked(join(folder, id, card.name), card) }
    },
    list: () => newestFirst(folder, readCard),
    ...cleaner(folder, readCard),
  }
}

type ReadCard = (id: ArtifactId) => Promise<Artifact | null>

/** By the time of each folder, since an id that is derived from a call says nothing of its age. */
async function newestFirst(folder: string, readCard: ReadCard): Promise<Artifact[]> {
  const ids = (await readdir(folder)).filter((name) => isUuid(name)) as ArtifactId[]
  const storedAt = async (id: ArtifactId) => (await stat(join(folder, id)).catch(() => null))?.mtimeMs ?? 0
  const found = await Promise.all(ids.map(async (id) => ({ card: await readCard(id), at: await storedAt(id) })))
  const stored = found.flatMap(({ card, at }) => (card === null ? [] : { card, at }))
  return stored.sort((a, b) => b.at - a.at || (a.card.id < b.card.id ? 1 : -1)).map(({ card }) => card)
}

/** What a sweep needs. */
function cleaner(folder: string, readCard: ReadCard): Pick<Artifacts, 'storedBefore' | 'remove' | 'removeUnfinished'> {
  return {
    async storedBefore(time) {
      const ids = (await readdir(folder)).filter((name) => isUuid(name)) as ArtifactId[]
      const old = await Promise.all(ids.map((id) => isOlder(join(folder, id), time)))
      const cards = await Promise.all(ids.filter((_, i) => old[i]).map(readCard))
      return cards.flatMap((card) => card ?? [])
    },
    async remove(path) {
      const { id } = parseArtifactAddress(path)
      const draft = draftIn(folder)
      await rename(join(folder, id), draft).then(
        () => rm(draft, { recursive: true, force: true }),
        (error) => {
          if (error.code !== 'ENOENT') throw uploadError(error, { name: path })
        },
      )
    },
    removeUnfinished: (time) => removeDrafts(folder, time),
  }
}

const draftIn = (folder: string) => join(folder, `.${newId()}.new`)

/** What killed processes left: halves, and files in which an upload to S3 was about to wait. */
export async function removeDrafts(folder: string, time: Date): Promise<void> {
  for (const name of (await readdir(folder)).filter((name) => /^\.[\da-f-]{36}\.(?:new|upload)$/.test(name))) {
    const draft = join(folder, name)
    if (await isOlder(draft, time)) await rm(draft, { recursive: true, force: true })
  }
}

/** What is gone meanwhile is not. */
async function isOlder(path: string, time: Date): Promise<boolean> {
  const { mtime } = (await stat(path).catch(() => null)) ?? {}
  return mtime !== undefined && mtime < time
}

/** A folder does not take the place of one that has something in it. */
function isTaken(error: unknown): boolean {
  return ['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')
}

async function writeExactly(path: string, { bytes, content, signal }: ArtifactInput): Promise<string> {
  let digest = ''
  const source = exactly(bytes, signal ? untilAborted(content, signal) : content, (seen) => {
    digest = seen
  })
  await pipeline(source, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }))
  return digest
}

/** An iteration that ends without an error yielded the recorded bytes. */
async function* readChecked(path: string, { id, bytes, digest }: Artifact): AsyncIterable<Uint8Array> {
  let actual = ''
  try {
    yield* exactly(bytes, createReadStream(path), (seen) => {
      actual = seen
    })
  } catch (error) {
    throw downloadError(id, error)
  }
  if (actual !== digest) throw downloadError(id, new Error('its bytes do not have the recorded digest'))
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function uploadError(error: unknown, { name, signal }: Pick<ArtifactInput, 'name' | 'signal'>): AppError {
  if (error instanceof AppError) return error
  if (signal?.aborted) return new AppError('CANCELLED', `Cannot store "${name}": it was cancelled`, {}, error)
  const known = storeError(error, `store "${name}"`)
  if (known.code === 'STORE_FULL') return known
  if (known.code === 'CONFIG_INVALID') return new AppError('S3_ACCESS_DENIED', known.message, {}, error)
  return new AppError('S3_UPLOAD_FAILED', known.message, {}, error)
}

function downloadError(id: string, error: unknown): AppError {
  return new AppError('S3_DOWNLOAD_FAILED', `Cannot read artifact ${id}: ${(error as Error).message}`, { id }, error)
}
