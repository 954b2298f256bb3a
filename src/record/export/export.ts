/**
 * Exports one run as an archive that can be verified without Métier: the exact lines of its events,
 * its blobs and artifacts, a manifest with the digest of every file, a signed statement about the
 * manifest, and two programs that check all of it.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createWriteStream, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { AppError, type EventBodies, type RunId, type RunStatus, sha256 } from '#model'
import { homePaths, piecesOf, publicKeyOf, signingKey, storeError, syncFolder } from '#record/disk'
import { openForReading } from '#record/ledger'
import { verify } from '#record/verify'
import { signedStatement } from './dsse.ts'
import { openExportedChain } from './export-chain.ts'
import { type TarEntry, tar } from './tar.ts'

export const exportFormat = 'urn:metier:run-export:v1'

/** `complete` is false where the run was not finished: what comes later is not in the archive. */
export type Exported = {
  file: string
  bytes: number
  run: RunId
  count: number
  head: string
  status: RunStatus
  complete: boolean
  files: number
  /** The public key whose signature vouches for it. */
  key: string
}

/** Texts for people that go along, by their names. */
type Pages = Record<string, string>

type File = { path: string; bytes: number; sha256: string; content: TarEntry['content'] }

/**
 * Writes FILE, all of it or nothing. The same state of a run gives the same bytes. Refuses a record
 * that does not verify.
 */
export async function exportRun(home: string, run: RunId, file: string, pages: Pages = {}): Promise<Exported> {
  const { ok, reason } = await verify(home, { run })
  if (!ok) {
    const next = 'Run "metier audit verify"'
    throw new AppError('LEDGER_BROKEN', `Cannot export run ${run}: the record does not verify: ${reason}. ${next}`, {
      run,
    })
  }
  const database = openForReading(homePaths(home).database)
  try {
    // One snapshot for both times that the events are read: once for their digest, once for their
    // bytes.
    database.exec('BEGIN')
    return await writeArchive(home, run, file, { database, pages })
  } catch (error) {
    throw storeError(error, `export run ${run} to ${file}`, 'Choose a folder that is there and that you may write')
  } finally {
    database.close()
  }
}

type Source = { database: DatabaseSync; pages: Pages }

async function writeArchive(home: string, run: RunId, file: string, source: Source): Promise<Exported> {
  const { database, pages } = source
  const paths = homePaths(home)
  const chain = openExportedChain(database, run)
  const { count, head, status, complete, events, blobs, artifacts } = chain.read()
  const files: File[] = [
    { path: 'events.jsonl', ...events, content: chain.lines() },
    ...[...blobs].map(([digest, bytes]) => blobFile(paths.blobs, digest, bytes)),
    ...artifacts.map((artifact) => artifactFile(paths.artifacts, artifact)),
    ...Object.entries(pages).map(([path, page]) => ({ ...text(path, page), sha256: sha256(page) })),
    program('verify.mjs', './verify-export.mjs'),
    program('verify.py', './verify-export.py'),
  ]
  files.sort((a, b) => (a.path < b.path ? -1 : 1))
  const signer = signingKey(paths.keys)
  const said = { run, count, head, status, complete }
  const listed = files.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 }))
  const manifest = `${JSON.stringify({ format: exportFormat, ...said, files: listed }, null, 2)}\n`
  const subject = [{ name: 'manifest.json', digest: { sha256: sha256(manifest) } }]
  const statement = signedStatement(subject, exportFormat, said, signer)
  const first = [text('manifest.json', manifest), text('statement.dsse.json', statement), folder('blobs/')]
  await writeGzip(file, tar([...first, ...files]))
  return { file, bytes: statSync(file).size, ...said, files: files.length, key: publicKeyOf(signer) }
}

async function writeGzip(file: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const draft = `${file}.${randomBytes(8).toString('hex')}.new`
  try {
    await pipeline(
      Readable.from(content),
      createGzip(),
      createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }),
    )
    renameSync(draft, file)
    syncFolder(dirname(file))
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/**
 * A later reader buffers what it gets, so each piece is a copy; what changed meanwhile is noticed
 * at its end.
 */
function* checkedPieces(file: string, digest: string): Generator<Uint8Array> {
  const seen = createHash('sha256')
  for (const piece of piecesOf(file)) {
    seen.update(piece)
    yield Buffer.from(piece)
  }
  if (seen.digest('hex') !== digest) throw new Error(`${file} is not what the record says`)
}

function blobFile(folder: string, digest: string, bytes: number): File {
  return { path: `blobs/${digest}`, bytes, sha256: digest, content: checkedPieces(join(folder, digest), digest) }
}

function artifactFile(folder: string, { id, name, bytes, digest }: EventBodies['artifact.stored']): File {
  const content = checkedPieces(join(folder, id, name), digest)
  return { path: `artifacts/${id}/${name}`, bytes, sha256: digest, content }
}

function program(path: string, source: string): File {
  const content = readFileSync(new URL(source, import.meta.url))
  return { path, bytes: content.length, sha256: sha256(content), content: [content] }
}

function text(path: string, content: string): TarEntry {
  const bytes = Buffer.from(content)
  return { path, bytes: bytes.length, content: [bytes] }
}

function folder(path: string): TarEntry {
  return { path, bytes: 0, content: [] }
}
