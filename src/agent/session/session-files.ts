/**
 * The books of a session in its workspace: ledger, manifest and transcript. Projections of the
 * record, written after it is durable, with its times; written again they are the same.
 */

import { appendPlain, readPlain, replacePlain } from '#agent/workspace'
import { sha256 } from '#model'
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

const bytesMax = Number.MAX_SAFE_INTEGER

/** One after the other: who appends to a file must know what stands in it. */
export function projectSession(record: SessionRecord): Promise<void> {
  const turn = projecting.then(() => project(record))
  projecting = turn.catch(() => {})
  return turn
}

let projecting: Promise<void> = Promise.resolve()

async function project(record: SessionRecord): Promise<void> {
  const root = record.view.plan.workspace
  for (const blob of blobsOf(record.lines)) {
    const path = `ledger/blobs/${blob.$blob}`
    const there = await readPlain(root, path, bytesMax)
    if (there === null || sha256(there) !== blob.$blob)
      await replacePlain(root, path.split('/'), Buffer.from(record.blob(blob)))
  }
  await projectLedger(root, record)
  await projectTranscript(root, record.view)
  const path = manifestPath(record.view)
  const manifest = manifestText(record)
  if (String(await readPlain(root, path, bytesMax)) !== manifest)
    await replacePlain(root, path.split('/'), Buffer.from(manifest))
}

/** Appended to while what is there is its beginning; else replaced. */
async function projectLedger(root: string, record: SessionRecord): Promise<void> {
  const path = ledgerPath(record.view)
  const text = ledgerText(record)
  const there = String((await readPlain(root, path, bytesMax)) ?? '')
  if (there === text) return
  if (text.startsWith(there)) await appendPlain(root, path.split('/'), text.slice(there.length))
  else await replacePlain(root, path.split('/'), Buffer.from(text))
}

/** One file a day for all sessions: what is not in it yet is added. */
async function projectTranscript(root: string, view: SessionView): Promise<void> {
  for (const [path, lines] of transcriptLines(view)) {
    const there = String((await readPlain(root, path, bytesMax)) ?? '')
    const known = countLines(there)
    const missing = lines.filter((line) => !take(known, line))
    if (missing.length === 0) continue
    // A line that a crash cut off stays, and is told apart by its end.
    const start = there === '' || there.endsWith('\n') ? '' : '\n'
    await appendPlain(root, path.split('/'), start + missing.map((line) => `${line}\n`).join(''))
  }
}
