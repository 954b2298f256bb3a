/** Artifacts in a folder: `<id>/<name>`, and beside it what is known of it; whole or not there, and never overwritten. */
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError, type ArtifactId, isUuid, newId } from '#model'
import {
  type Artifact,
  type ArtifactInput,
  type Artifacts,
  exactly,
  parseArtifactAddress,
  parseArtifactInput,
  untilAborted,
} from './artifacts.ts'
import { storeError } from './store-error.ts'

/** No artifact has this name: theirs never begin with a dot. */
export const artifactCardName = '.artifact.json'

export function openArtifactFolder(folder: string): Artifacts {
  const draftsOf = (id: string) => join(folder, `.${id}.new`)

  async function put(input: ArtifactInput): Promise<Artifact> {
    const { owner, name } = parseArtifactInput(input)
    const id = newId<ArtifactId>()
    const draft = draftsOf(id)
    try {
      await mkdir(draft, { recursive: true, mode: 0o700 })
      const digest = await writeExactly(join(draft, name), input)
      const { type, bytes } = input
      const artifact = { id, path: `artifacts/${id}/${name}`, name, type, owner, bytes, digest }
      await writeFile(join(draft, artifactCardName), `${JSON.stringify(artifact)}\n`, { mode: 0o600, flush: true })
      await sync(draft)
      await rename(draft, join(folder, id))
      await sync(folder)
      return artifact
    } catch (error) {
      await rm(draft, { recursive: true, force: true })
      throw uploadError(error, input)
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
    put,
    async get(idOrPath) {
      const { id, name } = parseArtifactAddress(idOrPath)
      const card = await readCard(id)
      if (!card || (name !== null && name !== card.name)) return null
      return { ...card, content: readChecked(join(folder, id, card.name), card) }
    },
    async list() {
      const ids = (await readdir(folder)).filter((name) => isUuid(name)) as ArtifactId[]
      const cards = await Promise.all(ids.sort().reverse().map(readCard))
      return cards.filter((card) => card !== null)
    },
  }
}

async function writeExactly(path: string, { bytes, content, signal }: ArtifactInput): Promise<string> {
  let digest = ''
  const source = exactly(bytes, signal ? untilAborted(content, signal) : content, (seen) => {
    digest = seen
  })
  await pipeline(source, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }))
  return digest
}

/** Whoever reaches the end without an error has had the right bytes. */
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

function uploadError(error: unknown, { name, signal }: ArtifactInput): AppError {
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
