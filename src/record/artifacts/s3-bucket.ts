/**
 * Requests to one bucket: signed, tried again where the reason may pass, and answered with what the
 * server said or an S3Fault with its code.
 */
import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { limits, pause, type S3Config } from '#model'
import { openKeys } from './s3-credentials.ts'
import { isSilent, mayPass, S3Fault } from './s3-error.ts'
import { piecesOf, readText, sendRequest } from './s3-request.ts'
import { emptyDigest, signed, uriEncode } from './s3-signature.ts'
import { textOf } from './s3-xml.ts'

/** Made again for each try. A piece of it is not touched after the next one was asked for. */
export type Body = { bytes: number; digest: string; open(): AsyncIterable<Uint8Array> }

export type BucketRequest = {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Absent: the bucket itself. */
  key?: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Body
  signal?: AbortSignal | undefined
  /** Not sent again: a try whose answer was lost would leave something behind. */
  isOnce?: true
}

export type Bucket = {
  /** The whole answer. */
  send(request: BucketRequest): Promise<{ headers: IncomingHttpHeaders; text: string }>
  /** The body of an object, as it comes. */
  read(key: string, signal?: AbortSignal): AsyncGenerator<Uint8Array>
}

const never = new AbortController().signal

export function openBucket(config: S3Config): Bucket {
  const agent = new (config.endpoint.startsWith('https:') ? HttpsAgent : HttpAgent)({
    keepAlive: true,
    maxSockets: limits.s3ConnectionsMax,
  })

  const keysNow = openKeys(config.credentials)

  async function tryOnce({ method, key, query, headers = {}, body, signal }: BucketRequest): Promise<IncomingMessage> {
    const url = addressOf(config, key, query)
    const digest = body?.digest ?? emptyDigest
    const keys = await keysNow()
    const all = signed({ method, url, headers, digest }, keys, config.region, new Date())
    const bytes = body?.bytes ?? 0
    const content = bytes === 0 ? {} : { body: body!.open() }
    const answer = await sendRequest({ method, url, headers: all, bytes, ...content, ...(signal && { signal }) }, agent)
    if (answer.statusCode! < 300) return answer
    throw faultOf(answer, await readText(answer))
  }

  async function answered<Value>(request: BucketRequest, read: (answer: IncomingMessage) => Promise<Value>) {
    const { signal = never, isOnce = false } = request
    for (let tries = 1; ; tries++) {
      try {
        signal.throwIfAborted()
        return await read(await tryOnce(request))
      } catch (error) {
        const isLast = isOnce || signal.aborted || isSilent(error) || tries === limits.s3TriesMax
        if (isLast || !mayPass(error)) throw error
        await pause(limits.s3RetryMs * 4 ** (tries - 1), signal)
      }
    }
  }

  return {
    send: (request) =>
      answered(request, async (answer) => {
        const text = await readText(answer)
        // S3 begins some answers before it knows their end.
        if (/^(?:<\?[^>]*>)?\s*<Error>/.test(text)) throw faultOf(answer, text)
        return { headers: answer.headers, text }
      }),
    async *read(key, signal) {
      yield* piecesOf(await answered({ method: 'GET', key, signal }, async (answer) => answer))
    },
  }
}

function addressOf({ endpoint, bucket, forcePathStyle }: S3Config, key = '', query: Record<string, string> = {}): URL {
  const url = new URL(endpoint)
  if (!forcePathStyle) url.host = `${bucket}.${url.host}`
  url.pathname = [...(forcePathStyle ? [bucket] : []), ...key.split('/').map(uriEncode)].join('/')
  const names = Object.keys(query).sort()
  url.search = names.map((name) => `${uriEncode(name)}=${uriEncode(query[name]!)}`).join('&')
  return url
}

/** A HEAD has no text: then the status says it, or the header by which MinIO does. */
function faultOf({ statusCode, headers }: IncomingMessage, text: string): S3Fault {
  const status = statusCode === 200 ? 500 : statusCode!
  const code = textOf(text, 'Code') ?? headers['x-minio-error-code'] ?? codes[status] ?? `Status${status}`
  return new S3Fault(String(code), status, `${textOf(text, 'Message') ?? `the server answers ${status}`} (${code})`)
}

const codes: Record<number, string> = {
  301: 'PermanentRedirect',
  403: 'AccessDenied',
  404: 'NoSuchKey',
  412: 'PreconditionFailed',
}
