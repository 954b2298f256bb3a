/** Reads the body of a request as JSON, and no more of it than the limit. */
import type { IncomingMessage } from 'node:http'
import { isTextDeeper, limits } from '#model'

type Body = { ok: true; value: unknown } | { ok: false; status: 400 | 413; code: number; message: string }

const parseError = -32700
const invalidRequest = -32600

export async function readBody(request: IncomingMessage): Promise<Body> {
  const text = await readText(request)
  if (text === null) {
    const most = `at most ${limits.httpBodyBytesMax} bytes are read`
    return refuseBody(request, 413, invalidRequest, `Cannot read the request: ${most}; send less at once`)
  }
  if (isTextDeeper(text, limits.httpBodyDepthMax)) {
    const why = `it is nested more deeply than ${limits.httpBodyDepthMax} levels`
    return refuseBody(request, 400, invalidRequest, `Cannot read the request: ${why}; send it flatter`)
  }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return refuseBody(request, 400, parseError, 'Cannot parse the request: it is not JSON')
  }
}

/** The fields of a form; null where it is too long. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const text = await readText(request)
  if (text === null) request.resume()
  return text === null ? null : new URLSearchParams(text)
}

/**
 * What is left of the body is thrown away: a client that is still sending would not see the answer
 * on a closed connection.
 */
function refuseBody(request: IncomingMessage, status: 400 | 413, code: number, message: string): Body {
  request.resume()
  return { ok: false, status, code, message }
}

/** null where it is too long. */
async function readText(request: IncomingMessage): Promise<string | null> {
  if (Number(request.headers['content-length'] ?? 0) > limits.httpBodyBytesMax) return null
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length
    if (bytes > limits.httpBodyBytesMax) return null
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}
