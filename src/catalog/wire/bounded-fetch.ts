/**
 * What a server behind an address says, no more of it at once than one message may have: the
 * library reads to the end, whatever comes.
 */
import type { Transformer } from 'node:stream/web'
import type { FetchLike } from '@modelcontextprotocol/client'
import { limits } from '#model'

/**
 * A stream of events may go on for ever; there each event is counted, elsewhere the whole.
 * `oversized` gets the request whose answer was broken off.
 */
export function boundedFetch(
  fetch: FetchLike,
  oversized: (request: RequestInit | undefined) => void = () => {},
  bytesMax: number = limits.upstreamLineBytesMax,
): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init)
    const { body, status, statusText, headers } = response
    if (body === null) return response
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') ?? false
    const counted = body.pipeThrough(new TransformStream(counting(isStream, bytesMax, () => oversized(init))))
    return new Response(counted, { status, statusText, headers })
  }
}

function counting(isStream: boolean, bytesMax: number, oversized: () => void): Transformer<Uint8Array, Uint8Array> {
  let bytes = 0
  let tail: Uint8Array = new Uint8Array()
  return {
    transform(chunk, controller) {
      const rest = isStream ? restAfterEvent(tail, chunk) : null
      bytes = rest ?? bytes + chunk.length
      tail = chunk.subarray(-3)
      if (bytes > bytesMax) {
        oversized()
        throw new Error(`the server sent a message of more than ${bytesMax} bytes`)
      }
      controller.enqueue(chunk)
    },
  }
}

/** How many bytes follow the last empty line, which may be cut in two; null where there is none. */
function restAfterEvent(tail: Uint8Array, chunk: Uint8Array): number | null {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
  const seam = Buffer.concat([tail, bytes.subarray(0, 3)])
  const last = Math.max(...gaps.map((gap) => bytes.lastIndexOf(gap)))
  if (last >= 0) return chunk.length - last
  return gaps.some((gap) => seam.includes(gap)) ? chunk.length : null
}

const gaps = ['\n\n', '\r\n\r\n', '\r\r']
