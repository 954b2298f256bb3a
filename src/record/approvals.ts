/** Approvals that were asked for, found by their id or all that are open, without reading the runs that asked. */
import type { DatabaseSync } from 'node:sqlite'
import type { Event, RunId } from '#model'
import type { ApprovalEnd } from './request.ts'

/** An approval that a run which is not finished has asked for. */
export type Asked = {
  run: RunId
  asked: Event<'approval.asked'>
  /** The call that it is about. */
  issued: Event<'call.issued'>
  /** Null while it is open. */
  answer: ApprovalEnd | null
}

type Row = { seq: number; answer: ApprovalEnd | null }

/** The call that event ?1 is about: not far before it, back along the chain. */
const callBefore = `
  WITH RECURSIVE back (link, type, line) AS (
    SELECT previous, type, line FROM event WHERE seq = ?1
    UNION ALL
    SELECT event.previous, event.type, event.line FROM back JOIN event ON event.seq = link
    WHERE NOT (back.type = 'call.issued' AND json_extract(back.line, '$.body.call') = ?2)
  )
  SELECT line FROM back WHERE type = 'call.issued' AND json_extract(line, '$.body.call') = ?2`

export function openApprovalReads(database: DatabaseSync) {
  const open = database.prepare('SELECT seq, answer FROM approval WHERE answer IS NULL ORDER BY seq')
  const byId = database.prepare('SELECT seq, answer FROM approval WHERE approval = ?')
  const ofRun = database.prepare('SELECT approval, seq FROM approval WHERE run = ? AND answer IS NULL')
  const line = database.prepare('SELECT line FROM event WHERE seq = ?')
  const issuedBefore = database.prepare(callBefore)

  function read({ seq, answer }: Row): Asked {
    const asked = JSON.parse(line.get(seq)!.line as string) as Event<'approval.asked'>
    const issued = JSON.parse(issuedBefore.get(seq, asked.body.call)!.line as string) as Event<'call.issued'>
    return { run: asked.run as RunId, asked, issued, answer }
  }

  return {
    /** Of all runs, in the order in which they were asked. */
    openApprovals: (): Asked[] => (open.all() as Row[]).map(read),
    approval(id: string): Asked | undefined {
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
