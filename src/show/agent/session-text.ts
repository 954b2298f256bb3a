/** A session as the record has it, and as a person reads it. */
import type { SessionRecord, SessionView } from '#agent'
import { escapeInvisible, type JsonObject } from '#model'
import type { Context } from '#show/cli'

export async function openSession(context: Context, session: string): Promise<SessionRecord> {
  const { readSession } = await import('#agent')
  return readSession(await context.record(), session)
}

export async function sessionRows(context: Context): Promise<JsonObject[]> {
  const [record, { isSession, readSession }] = await Promise.all([context.record(), import('#agent')])
  const all = record.runs().map(({ run }) => String(run))
  const sessions = all.filter((run) => isSession(record, record.eventsOf(run, { type: 'run.started' })[0]))
  const rows = sessions.map(async (run) => {
    const { view } = await readSession(record, run)
    const { goal, model, protocol, workspace } = view.plan
    const { status, startedAt, steps } = view
    return { session: run, status, goal, model, protocol, workspace, startedAt, steps }
  })
  return Promise.all(rows)
}

export function sessionText({ session, plan, status, said, files, tokens, cost, repeated }: SessionView): string {
  const lines = [
    `session ${session} · ${status} · ${plan.protocol} · ${escapeInvisible(plan.model)} · ${plan.workspace}`,
    ...said.map(({ at, step, role, does }) => `${at.slice(11, 19)}  ${step}  ${role}  ${oneLine(does)}`),
    ...files.map(
      ({ path, bytes, sha256, step }) =>
        `file  ${step}  ${escapeInvisible(path)}  ${bytes} bytes  ${sha256.slice(0, 12)}`,
    ),
    `${tokens.input} tokens read, ${tokens.output} written${cost === null ? '' : `, ${cost.toFixed(4)} USD`}`,
    ...repeated.map(
      ({ call, tries }) => `call ${call} was sent ${tries} times: the model may have been asked as often`,
    ),
  ]
  return lines.join('\n')
}

export function stepsText(steps: number): string {
  return `${steps} ${steps === 1 ? 'step' : 'steps'}`
}

export function oneLine(text: string): string {
  const line = escapeInvisible(text.replace(/\s+/g, ' ').trim())
  return line.length > 240 ? `${line.slice(0, 239)}…` : line
}
