/** The read-only HTTP API: the record as JSON, the same as from the command line. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError, limits } from '#model'
import { parseLastEventId, sendRunLines, streamEvents } from './events.ts'
import { sendPage } from './page.ts'
import { sendError, sendJson } from './reply.ts'
import type { Verbs } from './verbs.ts'

export type Api = { verbs: Verbs; version: string; url: string; stop: AbortSignal }

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

/** A function that knows the answer to GET of a path; null where there is nothing. */
export function openApi({ verbs, version, url, stop }: Api): (path: string) => Answer | null {
  let streams = 0
  const sendEvents: Answer = async (request, response) => {
    const seq = parseLastEventId(request.headers['last-event-id'])
    if (streams >= limits.httpStreamsMax) return sendError(response, tooManyStreams(), 503)
    streams++
    try {
      await streamEvents(verbs, response, { seq, stop, heartbeatMs: limits.httpHeartbeatMs })
    } finally {
      streams--
    }
  }
  const fixed: Record<string, Answer> = {
    '/': (_, response) => sendPage(response, url, version),
    '/healthz': (_, response) => sendJson(response, { ok: true, version }),
    '/api/runs': (_, response) => sendJson(response, verbs.runs()),
    '/api/events': sendEvents,
    '/api/approvals': (_, response) => sendJson(response, verbs.approvals()),
    '/api/tools': async (_, response) => sendJson(response, await verbs.tools()),
    '/api/ledger': async (_, response) => sendJson(response, await verbs.ledger()),
  }
  return (path) => {
    if (Object.hasOwn(fixed, path)) return fixed[path]!
    const [, id, lines] = /^\/api\/runs\/([^/]+)(\/events)?$/.exec(path) ?? []
    if (id === undefined) return null
    if (lines) return (_, response) => sendRunLines(verbs, id, response)
    return (_, response) => sendJson(response, verbs.run(id))
  }
}

function tooManyStreams(): AppError {
  const message = `Cannot stream events: ${limits.httpStreamsMax} streams are open; close one of them`
  return new AppError('BUDGET_EXCEEDED', message, { streams: limits.httpStreamsMax })
}
