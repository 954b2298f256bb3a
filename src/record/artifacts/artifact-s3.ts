/**
 * Artifacts in a bucket: one object each, `<prefix>/artifacts/<id>/<name>`, with all that is known
 * of it in its metadata; whole or not there, and never overwritten.
 */
import { AppError, type ArtifactId, limits, openSemaphore, type S3Config } from '#model'
import { storeError } from '#record/disk'
import {
  type Artifact,
  type ArtifactInput,
  type Artifacts,
  exactly,
  parseArtifactAddress,
  parseArtifactInput,
  sameArtifact,
} from './artifact.ts'
import { removeDrafts } from './artifact-folder.ts'
import { abortOld } from './s3-abandoned.ts'
import { type Bucket, openBucket } from './s3-bucket.ts'
import { artifactError, S3Fault } from './s3-error.ts'
import { metadataOf, type Objects, openObjects } from './s3-objects.ts'
import { openUploader } from './s3-upload.ts'
import { openSpooler } from './spool.ts'

/** In `folder` uploads wait for their digest that find no room in memory. */
export function openArtifactS3(config: S3Config, folder: string): Omit<Artifacts, 'address'> {
  const bucket = openBucket(config)
  const objects = openObjects(bucket, config.prefix)
  const upload = openUploader(bucket)
  const spoolExactly = openSpooler(folder)

  async function put(input: ArtifactInput): Promise<Artifact> {
    const { id, owner, run, name } = parseArtifactInput(input, config.maxBytes)
    const { type, bytes, signal } = input
    try {
      await using spool = await spoolExactly(input)
      const { digest } = spool
      const whose = { owner, ...(run && { run }) }
      const artifact = { id, path: `artifacts/${id}/${name}`, name, type, ...whose, bytes, digest }
      const earlier = input.id === undefined ? null : await cardById(id, signal)
      if (earlier !== null) return sameArtifact(earlier, digest)
      const isNew = await upload({ key: objects.keyOf(artifact), headers: metadataOf(artifact), spool, signal })
      if (isNew) return artifact
      const stored = await objects.card(artifact, signal)
      if (stored === null) throw new Error('the upload was ended from elsewhere')
      return sameArtifact(stored, digest)
    } catch (error) {
      throw uploadError(error, input)
    }
  }

  async function cardById(id: ArtifactId, signal?: AbortSignal): Promise<Artifact | null> {
    const place = await objects.find(id, signal)
    return place === null ? null : objects.card(place, signal)
  }

  async function cardAt(idOrPath: string, signal?: AbortSignal): Promise<Artifact | null> {
    const { id, name } = parseArtifactAddress(idOrPath)
    try {
      const direct = name === null ? null : await objects.card({ id, name }, signal)
      if (direct !== null) return direct
      // The answer about a missing object does not tell it from a missing bucket; a list does.
      const card = await cardById(id, signal)
      return name === null || name === card?.name ? card : null
    } catch (error) {
      throw artifactError(`read artifact ${id}`, 'S3_DOWNLOAD_FAILED', error, signal)
    }
  }

  return {
    put,
    async get(idOrPath, signal) {
      const card = await cardAt(idOrPath, signal)
      return card === null ? null : { ...card, content: readChecked(bucket, objects.keyOf(card), card, signal) }
    },
    async list(signal) {
      try {
        return await cardsOf(objects, signal)
      } catch (error) {
        throw artifactError('list the artifacts', 'S3_DOWNLOAD_FAILED', error, signal)
      }
    },
    ...cleaner(bucket, objects, folder),
  }
}

/** What a sweep needs. */
function cleaner(
  bucket: Bucket,
  objects: Objects,
  folder: string,
): Pick<Artifacts, 'storedBefore' | 'remove' | 'removeUnfinished'> {
  const sweeping = async <Value>(work: Promise<Value>, signal?: AbortSignal) => {
    return work.catch((error) => {
      throw artifactError('sweep the artifacts', 'S3_DOWNLOAD_FAILED', error, signal)
    })
  }
  return {
    async storedBefore(time, signal) {
      const old = (await sweeping(objects.all(signal), signal)).filter(({ at }) => new Date(at) < time)
      return old.map(({ id, name }) => ({ id, path: `artifacts/${id}/${name}` }))
    },
    async remove(path, signal) {
      const { id, name } = parseArtifactAddress(path)
      if (name === null) return
      await sweeping(bucket.send({ method: 'DELETE', key: objects.keyOf({ id, name }), signal }), signal)
    },
    async removeUnfinished(time, signal) {
      await removeDrafts(folder, time)
      await sweeping(abortOld(bucket, objects.folder, time, signal), signal)
    },
  }
}

/** An iteration that ends without an error yielded the recorded bytes. */
async function* readChecked(
  bucket: Bucket,
  key: string,
  { id, bytes, digest }: Artifact,
  signal: AbortSignal | undefined,
): AsyncIterable<Uint8Array> {
  let actual = ''
  try {
    yield* exactly(bytes, bucket.read(key, signal), (seen) => {
      actual = seen
    })
    if (actual !== digest) throw new Error('its bytes do not have the recorded digest')
  } catch (error) {
    // Of a content that is stored, another length is no mistake of the caller.
    const cause = error instanceof AppError && error.code === 'INVALID_INPUT_PARAM' ? new Error(error.message) : error
    throw artifactError(`read artifact ${id}`, 'S3_DOWNLOAD_FAILED', cause, signal)
  }
}

async function cardsOf(objects: Objects, signal?: AbortSignal): Promise<Artifact[]> {
  const heads = openSemaphore(limits.s3HeadsMax)
  const places = await objects.all(signal)
  const cards = places.map(async (place) => {
    const release = await heads.acquire(signal)
    return objects.card(place, signal).finally(release)
  })
  return (await Promise.all(cards)).filter((card) => card !== null)
}

function uploadError(error: unknown, { name, signal }: ArtifactInput): AppError {
  const action = `store "${name}"`
  const full = error instanceof S3Fault ? null : storeError(error, action)
  return full?.code === 'STORE_FULL' ? full : artifactError(action, 'S3_UPLOAD_FAILED', error, signal)
}
