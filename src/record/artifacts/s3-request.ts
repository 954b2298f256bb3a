/** One request over HTTP, with an exact length and limits on silence and on the whole. */
import { type Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { limits } from '#model'
import { S3Fault, silentFault } from './s3-error.ts'

type Outgoing = {
  method: string
  url: URL
  headers: Record<string, string>
  bytes: number
  body?: AsyncIterable<Uint8Array>
  signal?: AbortSignal
}

const silence = `the connection is silent for ${limits.s3SilentMsMax} ms`

/**
 * Resolves with the head of the answer, whose body is still to be read. The time limit grows with
 * what is sent, and holds until the answer begins.
 */
export async function sendRequest(outgoing: Outgoing, agent: Agent): Promise<IncomingMessage> {
  const { method, url, headers, bytes, body, signal } = outgoing
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const request = send(url, {
    method,
    agent,
    headers: { ...headers, 'content-length': bytes },
    ...(signal && { signal }),
  })
  const msMax = limits.s3SilentMsMax + bytes / limits.s3BytesPerMsMin
  const late = setTimeout(() => request.destroy(silentFault(`no answer within ${Math.ceil(msMax)} ms`)), msMax)
  request.setTimeout(limits.s3SilentMsMax, () => request.destroy(silentFault(silence)))
  try {
    return await new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve).on('error', reject)
      if (body === undefined) request.end()
      // An answer may come before all is sent, and with it the end of the connection.
      else
        writeAll(request, body).catch((error) => {
          request.destroy(error)
          reject(error)
        })
    })
  } catch (error) {
    throw S3Fault.lost(error)
  } finally {
    clearTimeout(late)
    request.setTimeout(0)
  }
}

/** Each piece is with the kernel before the next one is read. */
async function writeAll(request: ClientRequest, body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const piece of body)
    await new Promise<void>((resolve, reject) => {
      request.write(piece, (error) => (error ? reject(error) : resolve()))
    })
  request.end()
}

/** The pieces of an answer; only the waits for the server count as silence, not those for us. */
export async function* piecesOf(answer: IncomingMessage): AsyncGenerator<Uint8Array> {
  const source = answer[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  try {
    for (;;) {
      const late = setTimeout(() => answer.destroy(silentFault(silence)), limits.s3SilentMsMax)
      const next = await source.next().finally(() => clearTimeout(late))
      if (next.done) return
      yield next.value
    }
  } catch (error) {
    throw S3Fault.lost(error)
  } finally {
    answer.destroy()
  }
}

export async function readText(answer: IncomingMessage): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of piecesOf(answer)) {
    bytes += piece.length
    if (bytes > limits.s3AnswerBytesMax) throw new S3Fault('AnswerTooLong', 200, 'the answer of the server is too long')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}
