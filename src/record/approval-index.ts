/**
 * Approvals that were asked for, found by their id or all that are open, without reading the runs
 * that asked.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { BlobReference, Event, RunId } from '#model'
import type { ApprovalEnd } from '#record/ledger'
import { parseEvent } from '#record/ledger'

/** An approval that a run which is not finished has asked for. */
export type ApprovalRow = {
  run: RunId
  asked: Event<'approval.asked'>
  /** The call that it is about. */
  issued: Event<'call.issued'>
  /** Null while it is open. */
  answer: ApprovalEnd | null
}

type Row = { answer: ApprovalEnd | null; asked: string; issued: string }

/** Each with the call that it is about: not far before it, back along the chain. */
const withCalls = `
  SELECT answer, event.line AS asked, (
    WITH RECURSIVE back (link, type, line, call) AS (
      SELECT event.previous, event.type, event.line, json_extract(event.line, '$.body.call')
      UNION ALL
      SELECT before.previous, before.type, before.line, call FROM back JOIN event AS before ON before.seq = link
      WHERE NOT (back.type = 'call.issued' AND json_extract(back.line, '$.body.call') = call)
    )
    SELECT line FROM back WHERE type = 'call.issued' AND json_extract(line, '$.body.call') = call
  ) AS issued
  FROM approval JOIN event USING (seq)`

export function openApprovalReads(database: DatabaseSync, readBlob: (reference: BlobReference) => string) {
  const open = database.prepare(`${withCalls} WHERE answer IS NULL ORDER BY seq`)
  const byId = database.prepare(`${withCalls} WHERE approval = ?`)
  const ofRun = database.prepare('SELECT approval, seq FROM approval WHERE run = ? AND answer IS NULL')
  const line = database.prepare('SELECT line FROM event WHERE seq = ?')

  const read = ({ answer, ...lines }: Row): ApprovalRow => {
    const asked = parseEvent(lines.asked, readBlob) as Event<'approval.asked'>
    const issued = parseEvent(lines.issued, readBlob) as Event<'call.issued'>
    return { run: asked.run as RunId, asked, issued, answer }
  }

  return {
    /** Of all runs, in the order in which they were asked: one query, however many they are. */
    openApprovals: (): ApprovalRow[] => (open.all() as Row[]).map(read),
    approval(id: string): ApprovalRow | undefined {
      const row = byId.get(id) as Row | undefined
      return row && read(row)
    },
    /** The open ones of a run, each with its call. */
    asking(run: RunId): Map<string, string> {
      const rows = ofRun.all(run) as { approval: string; seq: number }[]
      return new Map(rows.map(({ approval, seq }) => [approval, JSON.parse(line.get(seq)!.line as string).body.call]))
    },
  }
}
