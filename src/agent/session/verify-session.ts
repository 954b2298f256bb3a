/** Holds the books and the files of a session against its record. */
import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { readPlain } from '#agent/workspace'
import { AppError, sha256 } from '#model'
import type { Artifacts } from '#verbs'
import {
  blobsOf,
  countLines,
  ledgerPath,
  ledgerText,
  manifestPath,
  manifestText,
  type SessionRecord,
  take,
  transcriptLines,
} from './session-books.ts'
import type { SessionView } from './session-view.ts'

type Difference = { file: string; problem: string }

/** The first thing in which the books or the files differ from the record; null where none does. */
export async function verifySession(
  record: SessionRecord,
  artifacts: () => Promise<Artifacts>,
): Promise<Difference | null> {
  const { view } = record
  const root = view.plan.workspace
  if (!(await stat(root).catch(() => null))?.isDirectory()) return { file: root, problem: 'is missing' }
  const expected: [string, string][] = [
    [ledgerPath(view), ledgerText(record)],
    [manifestPath(view), manifestText(record)],
    ...blobsOf(record.lines).map((blob): [string, string] => [`ledger/blobs/${blob.$blob}`, record.blob(blob)]),
  ]
  for (const [file, text] of expected) {
    const there = await bytesOf(root, file)
    if ('problem' in there) return there
    if (there.toString() !== text) return { file, problem: differenceOf(there.toString(), text) }
  }
  const difference = (await verifyTranscript(root, view)) ?? (await verifyFiles(root, view))
  return difference ?? verifyOutputs(view, artifacts)
}

/** Its bytes, or why there are none to compare. */
async function bytesOf(root: string, file: string): Promise<Buffer | Difference> {
  try {
    return (await readPlain(root, file, Number.MAX_SAFE_INTEGER)) ?? { file, problem: 'is missing' }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'PERMISSION_DENIED') throw error
    return { file, problem: 'is no plain file, or lies behind a link' }
  }
}

function differenceOf(there: string, text: string): string {
  const [a, b] = [there.split('\n'), text.split('\n')]
  const at = a.findIndex((line, index) => line !== b[index])
  return `differs from the record in line ${(at < 0 ? a.length : at) + 1}`
}

async function verifyTranscript(root: string, view: SessionView): Promise<Difference | null> {
  for (const [file, lines] of transcriptLines(view)) {
    const there = await bytesOf(root, file)
    if ('problem' in there) return there
    const known = countLines(there.toString())
    const missing = lines.find((line) => !take(known, line))
    if (missing !== undefined) return { file, problem: `lacks the line of ${missing.slice(0, 24)}` }
  }
  return null
}

async function verifyFiles(root: string, { files }: SessionView): Promise<Difference | null> {
  for (const { path: file, sha256: digest } of files) {
    const bytes = await bytesOf(root, file)
    if ('problem' in bytes) return bytes
    if (sha256(bytes) !== digest) return { file, problem: 'is not what the session wrote' }
  }
  return null
}

/** Read from where artifacts are stored, whole. */
async function verifyOutputs(
  { outputs }: SessionView,
  artifacts: () => Promise<Artifacts>,
): Promise<Difference | null> {
  for (const { storagePath: file, sha256: digest } of outputs) {
    const stored = await (await artifacts()).get(file)
    if (stored === null) return { file, problem: 'is missing' }
    const hash = createHash('sha256')
    const isRead = await readInto(hash, stored.content)
    if (!isRead || hash.digest('hex') !== digest) return { file, problem: 'is not what the script left' }
  }
  return null
}

/** False where the store notices itself that it is not what was stored. */
async function readInto(hash: ReturnType<typeof createHash>, content: AsyncIterable<Uint8Array>): Promise<boolean> {
  try {
    for await (const chunk of content) hash.update(chunk)
    return true
  } catch {
    return false
  }
}
