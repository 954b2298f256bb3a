/**
 * The HTTP API: the record as JSON, the same as from the command line; approvals are the one thing
 * that can be changed there.
 */
import type { ServerResponse } from 'node:http'
import type { StartToken } from '#gateway/auth'
import { type Handler, type Routes, sendError, sendJson } from '#gateway/http'
import { AppError, limits } from '#model'
import type { Verbs } from '#verbs'
import { approvalRoutes } from './approval-routes.ts'
import { parseLastEventId, sendRunLines, streamEvents } from './event-stream.ts'
import { sendIndexPage } from './index-page.ts'
import { sendMetrics } from './metrics.ts'

type Api = { verbs: Verbs; version: string; url: string; token: StartToken; stop: AbortSignal }

/** A function that knows what is answered at a path, by method; null where there is nothing. */
export function openApi({ verbs, version, url, token, stop }: Api): (path: string) => Routes | null {
  let streams = 0
  const sendEvents: Handler = async (request, response) => {
    const seq = parseLastEventId(request.headers['last-event-id'])
    if (streams >= limits.httpStreamsMax) return sendError(response, tooManyStreams(), 503)
    streams++
    try {
      await streamEvents(verbs, response, { seq, stop, heartbeatMs: limits.httpHeartbeatMs })
    } finally {
      streams--
    }
  }
  const fixed: Record<string, Handler> = {
    '/': (_, response) => sendIndexPage(response, url, version),
    '/healthz': (_, response) => {
      const health = verbs.health()
      sendJson(response, { ...health, version }, health.ok ? 200 : 503)
    },
    '/metrics': (_, response) => sendMetrics(response, verbs, version),
    '/api/runs': ({ url = '' }, response) => sendJson(response, verbs.runs({ limit: limitOf(url) })),
    '/api/events': sendEvents,
    '/api/tools': (_, response) => sendTools(response, verbs),
    '/api/ledger': async (_, response) => sendJson(response, await verbs.recentLedger()),
  }
  return (path) => {
    if (Object.hasOwn(fixed, path)) return { GET: fixed[path]! }
    const [, id, lines] = /^\/api\/runs\/([^/]+)(\/events)?$/.exec(path) ?? []
    if (id === undefined) return approvalRoutes(verbs, token, path)
    if (lines) return { GET: (_, response) => sendRunLines(verbs, id, response) }
    return { GET: async (_, response) => sendJson(response, await verbs.run(id)) }
  }
}

/** The same list as from the command line; servers that could not be asked are named beside it. */
async function sendTools(response: ServerResponse, verbs: Verbs): Promise<void> {
  const { tools, problems } = await verbs.tools()
  if (problems.length > 0) response.setHeader('metier-silent', problems.map(({ server }) => server).join(', '))
  sendJson(response, tools)
}

/** How many runs are wanted, the newest first; who says nothing gets no more than a page. */
function limitOf(url: string): number {
  const given = new URL(url, 'http://localhost').searchParams.get('limit')
  if (given === null) return limits.runsListedDefault
  if (/^[1-9]\d{0,5}$/.test(given)) return Number(given)
  const details = 'must be a whole number between 1 and 999999'
  throw new AppError('INVALID_INPUT_PARAM', `Cannot list runs: "limit" ${details}`, {
    param: 'limit',
    details,
    value: given,
  })
}

function tooManyStreams(): AppError {
  const message = `Cannot stream events: ${limits.httpStreamsMax} streams are open; close one of them`
  return new AppError('BUDGET_EXCEEDED', message, { streams: limits.httpStreamsMax })
}
