/**
 * What the books of a session say: its ledger, manifest and transcript, each a pure function of the
 * record.
 */
import { isObject, type JsonObject, type Stored, sha256 } from '#model'
import type { SessionView } from './session-view.ts'

type Blob = Stored<unknown> & { $blob: string }

/** A session as the record has it. */
export type SessionRecord = {
  view: SessionView
  /** The exact lines of its chain. */
  lines: readonly string[]
  /** The text of a value that stands outside of its event. */
  blob(blob: Blob): string
}

export const ledgerPath = ({ session }: SessionView) => `ledger/session_${session}.jsonl`
export const manifestPath = ({ session }: SessionView) => `manifests/session_${session}_manifest.json`

export const ledgerText = ({ lines }: SessionRecord) => lines.map((line) => `${line}\n`).join('')

/** By file: `time session step role text`, one line each. */
export function transcriptLines({ session, said }: SessionView): Map<string, string[]> {
  const files = new Map<string, string[]>()
  for (const { at, step, role, text } of said) {
    const path = `sessions/${at.slice(0, 10)}/transcript.log`
    const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r')
    files.set(path, [...(files.get(path) ?? []), `${at} ${session} ${step} ${role} ${escaped}`])
  }
  return files
}

export function manifestText({ view, lines }: SessionRecord): string {
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
export function blobsOf(lines: readonly string[]): Blob[] {
  const found = new Map<string, Blob>()
  for (const line of lines.filter((line) => line.includes('"$blob"'))) {
    const { body } = JSON.parse(line) as { body: JsonObject }
    for (const member of Object.values(body))
      if (isObject(member) && typeof member.$blob === 'string') found.set(member.$blob, member as unknown as Blob)
  }
  return [...found.values()]
}

/** How often each line stands in a transcript: the sessions of a day share it. */
export function countLines(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of text.split('\n')) counts.set(line, (counts.get(line) ?? 0) + 1)
  return counts
}

/** False where the line is not there, or not often enough. */
export function take(known: Map<string, number>, line: string): boolean {
  const count = known.get(line) ?? 0
  known.set(line, count - 1)
  return count > 0
}
