/**
 * Which gateways live in a home: each says where it is and which servers it knows, for as long as
 * it lives.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcessId, replaceFile } from '#model'
import { homePaths, type Store } from '#record'

/**
 * `servers` are the digests of their definitions: a run goes on only with those it started with.
 * Null goes on with nothing.
 */
export type Gateway = { url: string; servers: Record<string, string> | null }

const suffix = '.gateway.json'

/** Others find us until the function that comes back is called, or until we die. */
export function announce({ home, process }: Pick<Store, 'home' | 'process'>, gateway: Gateway): () => void {
  const file = join(homePaths(home).processes, `${process}${suffix}`)
  replaceFile(file, JSON.stringify(gateway))
  return () => rmSync(file, { force: true })
}

/** What the dead have left is removed on the way. */
export function livingGateways({ home, isAlive }: Pick<Store, 'home' | 'isAlive'>): Gateway[] {
  const folder = homePaths(home).processes
  const files = readdirSync(folder).filter((name) => name.endsWith(suffix))
  return files.flatMap((name) => {
    if (isAlive(name.slice(0, -suffix.length) as ProcessId)) return readGateway(join(folder, name))
    rmSync(join(folder, name), { force: true })
    return []
  })
}

/** It may stop between the look at the folder and the look at its file. */
function readGateway(file: string): Gateway[] {
  try {
    return [JSON.parse(readFileSync(file, 'utf8')) as Gateway]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** True where a gateway can go on with a run that started with these servers. */
export function canResume({ servers }: Gateway, started: Record<string, string>): boolean {
  return servers !== null && Object.entries(started).every(([server, digest]) => servers[server] === digest)
}
