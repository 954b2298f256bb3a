/**
 * The events of one run for an export, read twice in their order without holding them: first for
 * what they say, then for their bytes.
 */
import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { AppError, type EventBodies, type EventType, limits, type RunId, type RunStatus } from '#model'
import { brokenChain, chainQuery, firstHash, isBlobReference } from '#record/ledger'
import { fold, newDerived } from '#record/verify'

type ExportedChain = {
  read(): {
    count: number
    head: string
    status: RunStatus
    complete: boolean
    /** Of the file that the lines make. */
    events: { bytes: number; sha256: string }
    /** Sizes by digest. */
    blobs: Map<string, number>
    /** Those of the home. */
    artifacts: EventBodies['artifact.stored'][]
  }
  /** The exact lines, many of them in one chunk. */
  lines(): Generator<Uint8Array>
}

type Row = { type: EventType; line: Uint8Array; hash: string }

export function openExportedChain(database: DatabaseSync, run: RunId): ExportedChain {
  const places = placesOf(database, run)
  const event = database.prepare('SELECT type, CAST(line AS BLOB) AS line, hash FROM event WHERE seq = ?')

  function* rows(): Generator<Row> {
    for (const seq of places) yield event.get(seq) as Row
  }

  function read(): ReturnType<ExportedChain['read']> {
    const derived = newDerived()
    const file = createHash('sha256')
    const blobs = new Map<string, number>()
    const artifacts: EventBodies['artifact.stored'][] = []
    let [n, bytes, head, last] = [0, 0, firstHash, '']
    for (const { type, line: stored, hash } of rows()) {
      const line = Buffer.from(stored.buffer, stored.byteOffset, stored.length)
      n += 1
      head = createHash('sha256').update(`${head}\n`).update(line).digest('hex')
      if (head !== hash) throw brokenChain(run, n)
      file.update(line).update('\n')
      bytes += line.length + 1
      last = type
      fold(derived, type, n, 0, line)
      if (line.includes('"$blob"')) noteBlobs(line, blobs)
      if (type === 'artifact.stored') noteArtifact(line, artifacts)
    }
    const events = { bytes, sha256: file.digest('hex') }
    return { count: n, head, status: derived.status, complete: last === 'run.finished', events, blobs, artifacts }
  }

  function* lines(): Generator<Uint8Array> {
    let chunk: Uint8Array[] = []
    let size = 0
    for (const { line } of rows()) {
      chunk.push(line, newline)
      size += line.length + 1
      if (size < limits.filePieceBytes) continue
      yield Buffer.concat(chunk)
      chunk = []
      size = 0
    }
    yield Buffer.concat(chunk)
  }

  return { read, lines }
}

const newline = Buffer.from('\n')

/** Where the events stand in the table, in their order. */
function placesOf(database: DatabaseSync, run: RunId): number[] {
  const rows = database.prepare(chainQuery(['seq', 'n'])).all(run, 0) as { seq: number; n: number }[]
  rows.reverse()
  for (const [i, { n }] of rows.entries()) if (n !== i + 1) throw brokenChain(run, i + 1)
  if (rows.length > 0) return rows.map(({ seq }) => seq)
  throw new AppError('RUN_PURGED', `Cannot export run ${run}: it was purged; only its head and count remain`, { run })
}

function noteArtifact(line: Buffer, artifacts: EventBodies['artifact.stored'][]): void {
  const { body } = JSON.parse(line.toString()) as { body: EventBodies['artifact.stored'] }
  if (body.store === undefined) artifacts.push(body)
}

function noteBlobs(line: Buffer, blobs: Map<string, number>): void {
  for (const member of Object.values(JSON.parse(line.toString()).body)) {
    if (isBlobReference(member)) blobs.set(member.$blob, member.bytes)
  }
}
