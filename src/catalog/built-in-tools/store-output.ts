/** A file that a script handed out becomes an artifact of the run that called it. */
import { posix } from 'node:path'
import type { Call } from '#catalog/built-in'
import { type ArtifactId, newId, uuidOf } from '#model'
import type { Artifacts } from '#record'
import type { ScriptRequest } from '#sandbox'

export type StoredOutput = { path: string; artifactID: string; storagePath: string; bytes: number; sha256: string }
type Output = Parameters<NonNullable<ScriptRequest['onOutput']>>[0]

/**
 * Its id follows from what it is: a repeated try that comes to the same content finds it stored,
 * other content is another artifact.
 */
export async function storeOutput(
  artifacts: Artifacts,
  { run, call, signal }: Call,
  { path, bytes, sha256, content }: Output,
): Promise<StoredOutput> {
  const isNamed = run !== undefined && call !== undefined
  const { id, path: storagePath } = await artifacts.put({
    ...(isNamed && { id: uuidOf<ArtifactId>(['output', run, call, path, sha256].join('\0')) }),
    owner: run ?? newId(),
    name: nameOf(path),
    type: 'application/octet-stream',
    bytes,
    content,
    signal,
  })
  return { path, artifactID: id, storagePath, bytes, sha256 }
}

/** A file may be called by dots alone, an artifact not. */
function nameOf(path: string): string {
  const name = posix.basename(path)
  return /^\.+$/.test(name) ? 'output' : name
}
