/** Reads a session from the record, through the public verbs. */
import { AppError, type Event, type JsonObject, type RunStatus } from '#model'
import type { RecordVerbs } from '#verbs'
import type { SessionRecord } from './session-books.ts'
import { viewSession } from './session-view.ts'

export async function readSession(record: RecordVerbs, session: string): Promise<SessionRecord> {
  const status = statusOf(record.answer(session))
  const events = record.eventsOf(session)
  if (!isSession(record, events[0])) {
    const details = 'it is a run and no session; "metier sessions" lists them'
    throw new AppError('INVALID_INPUT_PARAM', `Cannot show ${session}: ${details}`, { param: 'session', details })
  }
  return {
    view: viewSession(events, status, record.memberText),
    lines: record.linesOf(session),
    blob: (blob) => record.memberText(blob),
  }
}

/** As the run's row has it: an answer says `running` of a run without an owner, too. */
export function statusOf({ status, interrupted }: JsonObject): RunStatus {
  return interrupted === true ? 'interrupted' : (status as RunStatus)
}

export function isSession(record: RecordVerbs, first: Event | undefined): boolean {
  if (first?.type !== 'run.started') return false
  return (JSON.parse(record.memberText(first.body.plan)) as { kind: string }).kind === 'agent'
}
