/**
 * The books of a session in its workspace: ledger, manifest and transcript. Projections of the
 * record, written after it is durable, with its times; written again they are the same.
 */
import { createHash } from 'node:crypto'
import { isObject, type JsonObject, type Stored, sha256 } from '#model'
import type { Artifacts } from '#verbs'
import type { SessionView } from './session-view.ts'
import { appendPlain, readPlain, replacePlain } from './workspace-files.ts'

type Blob = Stored<unknown> & { $blob: string }

/** A session as the record has it. */
export type SessionRecord = {
  view: SessionView
  /** The exact lines of its chain. */
  lines: readonly string[]
  /** The text of a value that stands outside of its event. */
  blob(blob: Blob): string
}

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
    if ((await readPlain(root, path, bytesMax)) === null)
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
async function projectLedger(root: string, { view, lines }: SessionRecord): Promise<void> {
  const path = ledgerPath(view).split('/')
  const text = lines.map((line) => `${line}\n`).join('')
  const there = String((await readPlain(root, ledgerPath(view), bytesMax)) ?? '')
  if (there === text) return
  if (text.startsWith(there)) await appendPlain(root, path, text.slice(there.length))
  else await replacePlain(root, path, Buffer.from(text))
}

/** One file a day for all sessions: what is not in it yet is added. */
async function projectTranscript(root: string, view: SessionView): Promise<void> {
  for (const [path, lines] of transcript(view)) {
    const there = String((await readPlain(root, path, bytesMax)) ?? '')
    const known = countLines(there)
    const missing = lines.filter((line) => !take(known, line))
    if (missing.length === 0) continue
    // A line that a crash cut off stays, and is told apart by its end.
    const start = there === '' || there.endsWith('\n') ? '' : '\n'
    await appendPlain(root, path.split('/'), start + missing.map((line) => `${line}\n`).join(''))
  }
}

function countLines(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of text.split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}

function take(known: Map<string, number>, line: string): boolean {
  const count = known.get(line) ?? 0
  known.set(line, count - 1)
  return count > 0
}

/** By file: `time session step role text`, one line each. */
function transcript({ session, said }: SessionView): Map<string, string[]> {
  const files = new Map<string, string[]>()
  for (const { at, step, role, text } of said) {
    const path = `sessions/${at.slice(0, 10)}/transcript.log`
    const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
    files.set(path, [...(files.get(path) ?? []), `${at} ${session} ${step} ${role} ${escaped}`])
  }
  return files
}

const ledgerPath = ({ session }: SessionView) => `ledger/session_${session}.jsonl`
const manifestPath = ({ session }: SessionView) => `manifests/session_${session}_manifest.json`

function manifestText({ view, lines }: SessionRecord): string {
  const { session, startedAt, endedAt, plan, files, outputs } = view
  const manifest = { session, startedAt, endedAt, instruction: plan.goal, files, outputs, head: headOf(lines) }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

/** The chain of hashes over the lines, as the record has it. */
function headOf(lines: readonly string[]): { n: number; hash: string } {
  let hash = '0'.repeat(64)
  for (const line of lines) hash = sha256(`${hash}\n${line}`)
  return { n: lines.length, hash }
}

/**
 * The values that stand outside of their events: only members of a body do, and what merely looks
 * like a reference may be anywhere inside of a value.
 */
function blobsOf(lines: readonly string[]): Blob[] {
  const found = new Map<string, Blob>()
  for (const line of lines.filter((line) => line.includes('"$blob"'))) {
    const { body } = JSON.parse(line) as { body: JsonObject }
    for (const member of Object.values(body))
      if (isObject(member) && typeof member.$blob === 'string') found.set(member.$blob, member as unknown as Blob)
  }
  return [...found.values()]
}

type Difference = { file: string; problem: string }

/** The first thing in which the books or the files differ from the record; null where none does. */
export async function verifySession(
  record: SessionRecord,
  artifacts: () => Promise<Artifacts>,
): Promise<Difference | null> {
  const { view, lines } = record
  const root = view.plan.workspace
  const expected: [string, string][] = [
    [ledgerPath(view), lines.map((line) => `${line}\n`).join('')],
    [manifestPath(view), manifestText(record)],
    ...blobsOf(lines).map((blob): [string, string] => [`ledger/blobs/${blob.$blob}`, record.blob(blob)]),
  ]
  for (const [file, text] of expected) {
    const there = await readPlain(root, file, bytesMax)
    if (there === null) return { file, problem: 'is missing' }
    if (there.toString() !== text) return { file, problem: differenceOf(there.toString(), text) }
  }
  const difference = (await verifyTranscript(root, view)) ?? (await verifyFiles(root, view))
  return difference ?? verifyOutputs(view, artifacts)
}

function differenceOf(there: string, text: string): string {
  const [a, b] = [there.split('\n'), text.split('\n')]
  const at = a.findIndex((line, index) => line !== b[index])
  return `differs from the record in line ${(at < 0 ? a.length : at) + 1}`
}

async function verifyTranscript(root: string, view: SessionView): Promise<Difference | null> {
  for (const [file, lines] of transcript(view)) {
    const known = countLines(String((await readPlain(root, file, bytesMax)) ?? ''))
    const missing = lines.find((line) => !take(known, line))
    if (missing !== undefined) return { file, problem: `lacks the line of ${missing.slice(0, 24)}` }
  }
  return null
}

async function verifyFiles(root: string, { files }: SessionView): Promise<Difference | null> {
  for (const { path: file, sha256: digest } of files) {
    const bytes = await readPlain(root, file, bytesMax)
    if (bytes === null) return { file, problem: 'is missing' }
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
