/**
 * Real servers that tests share, as `scripts/services.ts up` leaves them: where they are, or why
 * not.
 */
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { limits, type S3Config } from '#model'
import { openBucket } from '#record/artifacts'

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'metier', 'services')

/** false, or why the tests that need Neo4j cannot run. */
export const whyNoNeo4j = () => whyNot('neo4j')

/** The same of MinIO, a server of S3. */
export const whyNoMinio = () => whyNot('minio')

function whyNot(name: string): string | false {
  try {
    const { pid } = JSON.parse(readFileSync(join(cache, name, 'pid.json'), 'utf8')) as { pid: number }
    process.kill(pid, 0)
    return false
  } catch {
    return `needs ${name}: node scripts/services.ts up ${name}`
  }
}

export function neo4jAddress(): { url: string; user: string; password: string; database: string } {
  const settings = readFileSync(join(cache, 'neo4j', 'settings.json'), 'utf8')
  const { port, password } = JSON.parse(settings) as { port: number; password: string }
  return { url: `bolt://127.0.0.1:${port}`, user: 'neo4j', password, database: 'neo4j' }
}

/** The program that was built, for tests that start a server of their own and kill it. */
export const minioProgram = join(cache, 'minio', 'minio')

/** A bucket of the shared server, which is made where it is not there yet. */
export async function minioBucket(bucket: string): Promise<S3Config> {
  const { port, secret } = JSON.parse(readFileSync(join(cache, 'minio', 'settings.json'), 'utf8')) as Settings
  return makeBucket(minioConfig(port, secret, bucket))
}

type Settings = { port: number; secret: string }

export function minioConfig(port: number, secret: string, bucket: string): S3Config {
  const credentials = { accessKeyId: 'testkey', secretAccessKey: secret }
  const place = { endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', bucket, prefix: '' }
  return { ...place, forcePathStyle: true, credentials, maxBytes: limits.artifactBytesMax }
}

export async function makeBucket(config: S3Config): Promise<S3Config> {
  await (await openBucket(config)).send({ method: 'PUT' }).catch((error) => {
    if (error.code !== 'BucketAlreadyOwnedByYou') throw error
  })
  return config
}
