/**
 * Real servers that tests share, as `scripts/services.ts up` leaves them: where they are, or why
 * not.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { limits, type S3Config } from '#model'
import { openBucket } from '#record/artifacts'

const run = promisify(execFile)
const root = dirname(dirname(import.meta.dirname))
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
  return addressIn(join(cache, 'neo4j'))
}

function addressIn(place: string): ReturnType<typeof neo4jAddress> {
  const settings = readFileSync(join(place, 'settings.json'), 'utf8')
  const { port, password } = JSON.parse(settings) as { port: number; password: string }
  return { url: `bolt://127.0.0.1:${port}`, user: 'neo4j', password, database: 'neo4j' }
}

type OwnServer = {
  /** Known once it was started. */
  address(): ReturnType<typeof neo4jAddress>
  start(): Promise<void>
  kill(): Promise<void>
}

/** One compiler and one collector: starts with half the CPU, and is slower once it is warm. */
const quickStart = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

/**
 * A Neo4j that a test may kill: data in a folder of its own, jars of the shared one. What is
 * measured against it needs the whole compiler.
 */
export function ownNeo4j(folder: string, { isMeasured = false } = {}): OwnServer {
  const place = join(folder, 'metier', 'services', 'neo4j')
  mkdirSync(place, { recursive: true })
  const jars = readdirSync(join(cache, 'neo4j')).filter((name) => name.startsWith('jars-'))
  for (const name of jars) symlinkSync(join(cache, 'neo4j', name), join(place, name))
  const env = { ...process.env, XDG_CACHE_HOME: folder, ...(!isMeasured && { JDK_JAVA_OPTIONS: quickStart }) }
  return {
    address: () => addressIn(place),
    async start() {
      const up = () => run(process.execPath, [join(root, 'scripts/services.ts'), 'up', 'neo4j'], { env })
      // On a busy machine it takes longer than a person would wait.
      await up().catch(up).catch(up).catch(up)
    },
    async kill() {
      const { pid } = JSON.parse(readFileSync(join(place, 'pid.json'), 'utf8')) as { pid: number }
      const exe = `/proc/${pid}/exe`
      if (!existsSync(exe)) return
      process.kill(pid, 'SIGKILL')
      while (existsSync(exe)) await sleep(10)
    },
  }
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
