/**
 * Opens the store that a configuration names: the folder of the home, or a bucket. The code of S3
 * is loaded with the first request to it.
 */
import type { Config, EventBodies, S3Config } from '#model'
import { homePaths } from '#record/disk'
import type { Artifact, Artifacts } from './artifact.ts'
import { openArtifactFolder } from './artifact-folder.ts'
import type { Bucket } from './s3-bucket.ts'

/** `folder` is where artifacts are; of S3, where uploads wait until their digest is known. */
export type ArtifactsAddress = { folder: string; s3?: S3Config }

export function artifactsAddress({ home, artifacts }: Pick<Config, 'home' | 'artifacts'>): ArtifactsAddress {
  return { folder: homePaths(home).artifacts, ...(artifacts !== 'dir' && { s3: artifacts }) }
}

export function openArtifacts({ folder, s3 }: ArtifactsAddress): Artifacts {
  if (s3 === undefined) return openArtifactFolder(folder)
  let opened: Promise<Omit<Artifacts, 'address'>> | undefined
  const load = async () => {
    const { openArtifactS3 } = await import('./artifact-s3.ts')
    return openArtifactS3(s3, folder)
  }
  const open = () => (opened ??= load())
  const { endpoint, bucket, prefix } = s3
  return {
    address: { driver: 's3', endpoint, bucket, prefix },
    put: async (input) => (await open()).put(input),
    get: async (idOrPath, signal) => (await open()).get(idOrPath, signal),
    list: async (signal) => (await open()).list(signal),
    storedBefore: async (time, signal) => (await open()).storedBefore(time, signal),
    remove: async (path, signal) => (await open()).remove(path, signal),
    removeUnfinished: async (time, signal) => (await open()).removeUnfinished(time, signal),
  }
}

/** What the record says of an artifact: verification must know where to look for it. */
export function storedEvent({ address }: Artifacts, artifact: Artifact): EventBodies['artifact.stored'] {
  const { id, name, bytes, digest } = artifact
  const { driver, bucket, prefix } = address
  const store = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`
  return { id, name, bytes, digest, ...(driver === 's3' && { store }) }
}

/** Requests to the bucket itself. */
export async function openBucket(config: S3Config): Promise<Bucket> {
  return (await import('./s3-bucket.ts')).openBucket(config)
}
