/** Reads the body of a request as JSON, and no more of it than the limit. */
import type { IncomingMessage } from 'node:http'
import { limits } from '#model'

export type Body = { ok: true; value: unknown } | { ok: false; status: 400 | 413; code: number; message: string }

const parseError = -32700
const invalidRequest = -32600

export async function readBody(request: IncomingMessage): Promise<Body> {
  const text = await readText(request)
  if (text === null) {
    const most = `at most ${limits.httpBodyBytesMax} bytes are read`
    return refused(request, 413, invalidRequest, `Cannot read the request: ${most}; send less at once`)
  }
  if (isDeeper(text, limits.httpBodyDepthMax)) {
    const why = `it is nested more deeply than ${limits.httpBodyDepthMax} levels`
    return refused(request, 400, invalidRequest, `Cannot read the request: ${why}; send it flatter`)
  }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch {
    return refused(request, 400, parseError, 'Cannot parse the request: it is not JSON')
  }
}

/** Whoever judges a value goes down into it, and has only so much room. A short text is not looked at: it cannot be deep. */
function isDeeper(text: string, most: number): boolean {
  if (text.length <= 2 * most) return false
  let depth = 0
  let inText = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inText && code === backslash) at++
    else if (code === quote) inText = !inText
    else if (!inText && (code === brace || code === bracket)) depth++
    else if (!inText && (code === brace + 2 || code === bracket + 2)) depth--
    if (depth > most) return true
  }
  return false
}

const [quote, backslash, brace, bracket] = [...'"\\{['].map((sign) => sign.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
]

/** The fields of a form; null where it is too long. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const text = await readText(request)
  if (text === null) request.resume()
  return text === null ? null : new URLSearchParams(text)
}

/** What is left of the body is thrown away: a client that is still sending would not see the answer on a closed connection. */
function refused(request: IncomingMessage, status: 400 | 413, code: number, message: string): Body {
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
