/** What a script of a session left below `/outputs` becomes an artifact of the session. */
import { posix } from 'node:path'
import type { StoredOutput } from '#agent/protocol'
import { type ArtifactId, uuidOf } from '#model'
import type { ScriptRequest } from '#sandbox'
import type { Artifacts } from '#verbs'
import type { SessionCall } from './session-servers.ts'

type Output = Parameters<NonNullable<ScriptRequest['onOutput']>>[0]

/** Its id follows from what it is: a call that is made again after a crash stores nothing twice. */
export async function storeOutput(
  artifacts: Artifacts,
  { run, call, signal }: SessionCall,
  { path, bytes, sha256, content }: Output,
): Promise<StoredOutput> {
  const id = uuidOf<ArtifactId>(['output', run, call, path, sha256].join('\0'))
  const type = 'application/octet-stream'
  const stored = await artifacts.put({ id, owner: run, name: nameOf(path), type, bytes, content, signal })
  return { path, artifactID: stored.id, storagePath: stored.path, bytes, sha256 }
}

/** The script chose the name: what would be odd as one is left out, and `path` still has it. */
function nameOf(path: string): string {
  const name = posix.basename(path)
  return /^(?!\.+$)[\w.-]{1,100}$/.test(name) ? name : 'output'
}
