/** The auditor's program over whole workspaces, and over every file of one with a byte changed. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Scope } from './scope.ts'
import { auditSession, sessionsIn } from './session-auditor.ts'

/** At the end of a test each session of its workspace is audited, and again for each change. */
export function auditAtEnd(t: Scope, workspaceOf: () => string): void {
  t.after(() => {
    const workspace = workspaceOf()
    if (!existsSync(join(workspace, 'ledger'))) return
    for (const session of sessionsIn(workspace)) {
      auditSession(workspace, session)
      for (const place of placesOf(workspace, session, 1)) assertNoticed(workspace, session, place)
    }
  })
}

export type Place = { file: string; at: number }

/**
 * Bytes of a session: `perFile` of each of its files, and one of each line of its ledger and of
 * what it added to transcripts.
 */
export function placesOf(workspace: string, session: string, perFile: number): Place[] {
  const manifest = `manifests/session_${session}_manifest.json`
  const ledger = `ledger/session_${session}.jsonl`
  const { files } = JSON.parse(readFileSync(join(workspace, manifest), 'utf8')) as { files: { path: string }[] }
  const text = readFileSync(join(workspace, ledger), 'utf8')
  const blobs = namesIn(workspace, 'ledger/blobs').filter((file) => text.includes(file.slice('ledger/blobs/'.length)))
  const spread = [manifest, ...blobs, ...files.map(({ path }) => path)].flatMap((file) =>
    spreadOver(file, readFileSync(join(workspace, file)).length, perFile),
  )
  const books = [ledger, ...namesIn(workspace, 'sessions').filter((file) => file.endsWith('transcript.log'))]
  return [...spread, ...books.flatMap((file) => linesOf(workspace, file, session))]
}

export function assertNoticed(workspace: string, session: string, { file, at }: Place): void {
  const path = join(workspace, file)
  const before = readFileSync(path)
  const changed = Buffer.from(before)
  changed[at]! ^= 1
  writeFileSync(path, changed)
  try {
    assert.throws(() => auditSession(workspace, session), `${file} was changed at byte ${at}`)
  } finally {
    writeFileSync(path, before)
  }
}

function namesIn(workspace: string, folder: string): string[] {
  if (!existsSync(join(workspace, folder))) return []
  const names = readdirSync(join(workspace, folder), { recursive: true, withFileTypes: true })
  return names
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(workspace.length + 1))
}

function spreadOver(file: string, length: number, count: number): Place[] {
  const step = (length - 1) / (count + 1)
  return length === 0 ? [] : Array.from({ length: count }, (_, n) => ({ file, at: Math.floor(step * (n + 1)) }))
}

/** One byte of each line of the session; where in it differs from line to line. */
function linesOf(workspace: string, file: string, session: string): Place[] {
  const places: Place[] = []
  let start = 0
  for (const [n, line] of readFileSync(join(workspace, file), 'latin1').split('\n').entries()) {
    if (line.includes(session)) places.push({ file, at: start + ((n * 31) % line.length) })
    start += line.length + 1
  }
  return places
}
