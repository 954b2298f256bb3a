/**
 * The recipe for MinIO, a real S3 server for tests: built once with Go, started on loopback with a
 * secret of its own, and as often as tests want one that they may kill.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { type BuildPlace, hasGoBinary, installGoBinary } from './go-binary.ts'
import { startServer } from './server-process.ts'

const minio = {
  name: 'minio',
  module: 'github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c',
  go: '1.24',
}

export type S3Server = { endpoint: string; accessKeyId: string; secretAccessKey: string; region: string }
type Settings = { port: number; secret: string }

export function installMinio(place: BuildPlace): void {
  installGoBinary(minio, place)
}

/**
 * Starts a server whose data stands in `folder`; the program is the one in `binaries`. Port and
 * secret stay the same over restarts, so that a client finds a killed server again.
 */
export async function startMinio(folder: string, binaries: string = folder): Promise<void> {
  const { port, secret } = await settingsOf(folder)
  const env = { MINIO_ROOT_USER: 'testkey', MINIO_ROOT_PASSWORD: secret, MINIO_UPDATE: 'off', MINIO_BROWSER: 'off' }
  const args = ['server', '--quiet', '--address', `127.0.0.1:${port}`, join(folder, 'data')]
  startServer(folder, { executable: join(binaries, minio.name), args, env })
}

export async function probeMinio(folder: string, binaries: string = folder): Promise<string | null> {
  if (!hasGoBinary(minio, binaries)) return 'it is not built'
  const server = minioServer(folder)
  if (server === null) return 'it was never started'
  try {
    const { ok, status } = await fetch(`${server.endpoint}/minio/health/ready`, { signal: AbortSignal.timeout(2000) })
    return ok ? null : `it answers ${status}`
  } catch (error) {
    return `it does not answer at ${server.endpoint} (${(error as Error).message})`
  }
}

/** How to reach the server of this folder; null where it was never started. */
export function minioServer(folder: string): S3Server | null {
  if (!existsSync(settingsFile(folder))) return null
  const { port, secret } = JSON.parse(readFileSync(settingsFile(folder), 'utf8')) as Settings
  return { endpoint: `http://127.0.0.1:${port}`, accessKeyId: 'testkey', secretAccessKey: secret, region: 'us-east-1' }
}

async function settingsOf(folder: string): Promise<Settings> {
  if (existsSync(settingsFile(folder))) return JSON.parse(readFileSync(settingsFile(folder), 'utf8')) as Settings
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const settings = { port: await freePort(), secret: randomBytes(12).toString('hex') }
  writeFileSync(settingsFile(folder), JSON.stringify(settings), { mode: 0o600 })
  return settings
}

function settingsFile(folder: string): string {
  return join(folder, 'settings.json')
}
