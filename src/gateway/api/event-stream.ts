/**
 * The record as it grows, line by line: a stream that resumes where a client stopped, and the lines
 * of one run.
 */
import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { writeDrained } from '#gateway/http'
import { AppError, limits } from '#model'
import type { Verbs } from '#verbs'

const pageMax = limits.httpStreamPageEvents

/** The `seq` that a client has seen last; 0, before the first event, where it has seen none. */
export function parseLastEventId(header: string | string[] | undefined): number {
  if (header === undefined || header === '') return 0
  if (typeof header === 'string' && /^\d{1,15}$/.test(header)) return Number(header)
  const details = 'must be the number of an event, as a stream gave it'
  const message = `Cannot read "Last-Event-ID": ${details}`
  throw new AppError('INVALID_INPUT_PARAM', message, { param: 'Last-Event-ID', details, value: header })
}

/** Sends every event after `seq`, old and new, until the client or the gateway goes. */
export async function streamEvents(
  verbs: Verbs,
  response: ServerResponse,
  { seq, stop, heartbeatMs }: { seq: number; stop: AbortSignal; heartbeatMs: number },
): Promise<void> {
  let changed = false
  let wake = () => {}
  const ring = () => {
    changed = true
    wake()
  }
  const isOver = () => response.destroyed || stop.aborted
  const unsubscribe = verbs.onChange(ring)
  response.on('close', ring)
  stop.addEventListener('abort', ring)
  const heartbeat = setInterval(() => response.writableNeedDrain || response.write(': alive\n\n'), heartbeatMs)
  try {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    await writeDrained(response, 'retry: 1000\n\n')
    while (!isOver()) {
      changed = false
      const page = verbs.events(seq, pageMax)
      if (page.length === 0 && !changed) await new Promise<void>((resolve) => (wake = resolve))
      if (page.length === 0) continue
      seq = page.at(-1)!.seq
      await writeDrained(response, page.map((event) => `id: ${event.seq}\ndata: ${event.line}\n\n`).join(''))
      await setImmediate()
    }
  } finally {
    clearInterval(heartbeat)
    unsubscribe()
    stop.removeEventListener('abort', ring)
    response.end()
  }
}

/** The lines of one run, exactly as they were recorded and hashed. */
export async function sendRunLines(verbs: Verbs, run: string, response: ServerResponse): Promise<void> {
  const lines = verbs.lines(run)
  response.writeHead(200, { 'content-type': 'application/jsonl' })
  for (let i = 0; i < lines.length && !response.destroyed; i += pageMax) {
    await writeDrained(response, `${lines.slice(i, i + pageMax).join('\n')}\n`)
  }
  response.end()
}
