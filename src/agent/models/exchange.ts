/**
 * Sends one request to a provider and says of every failure whether the request took effect. No
 * retries, no redirects, a bounded answer, and no key in any error.
 */
import { type AppError, isObject, limits, redactedSecret } from '#model'
import { ContextOverflow, ModelError } from './model.ts'

type Fetch = typeof globalThis.fetch

/** What an error may say of a model, and what it must not. */
export type Subject = { model: string; keyHint: string; secrets: string[] }

/** A `fetch` for the AI SDK that throws a ModelError for whatever is no answer. */
export function exchangeOf(subject: Subject, now: () => number): Fetch {
  return async (address, init) => {
    let response: Response
    try {
      // A key in a header of its own would follow a redirect to anywhere.
      response = await fetch(address, { ...init, redirect: 'error' })
    } catch (error) {
      throw connectionError(subject, error)
    }
    if (!response.ok) throw statusError(subject, response.status, await startOf(response), response.headers, now())
    const { status, headers } = response
    return new Response(response.body && bounded(response.body, subject), { status, headers })
  }
}

/** The errors before a connection stands; after it the request may have arrived. */
const unconnected =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|.*CERT.*|ERR_TLS.*)$/

function connectionError(subject: Subject, thrown: unknown): AppError {
  if (thrown instanceof ModelError) return thrown
  const { model } = subject
  if (thrown instanceof Error && thrown.name === 'AbortError')
    return new ModelError('unknown', 'CANCELLED', `The request to "${model}" was cancelled`, { model })
  const code = causeCode(thrown)
  const outcome = unconnected.test(code) ? 'not_sent' : 'unknown'
  const what = outcome === 'not_sent' ? 'cannot be reached' : 'cut the connection'
  const reason = quoted(subject, code || rootMessage(thrown))
  const next = outcome === 'not_sent' ? '. Is it running, and is its address right?' : ''
  return new ModelError(outcome, 'UPSTREAM_UNREACHABLE', `The provider of "${model}" ${what}: ${reason}${next}`, {
    model,
  })
}

function causeCode(thrown: unknown): string {
  for (let error = thrown; error instanceof Error; error = error.cause)
    if ('code' in error && typeof error.code === 'string') return error.code
  return ''
}

/** `fetch` says no more than that it failed; what it wraps says why. */
function rootMessage(thrown: unknown): string {
  let error = thrown
  while (error instanceof Error && error.cause instanceof Error) error = error.cause
  return error instanceof Error ? error.message : String(error)
}

/** What a status means; of a full window the caller makes an answer. */
export function statusError(subject: Subject, status: number, body: string, headers: Headers, now: number): ModelError {
  const { model, keyHint } = subject
  const reason = quoted(subject, reasonIn(body))
  const context = { model, status }
  const text = (what: string) => `The provider of "${model}" ${what} (${status})${reason && `: ${reason}`}`
  if (status === 402 || /insufficient_quota/.test(body))
    return new ModelError('answered', 'PERMISSION_DENIED', text('says that the account has no credit'), context)
  if (status === 401 || status === 403)
    return new ModelError('answered', 'PERMISSION_DENIED', `${text('refuses the key')}. ${keyHint}`, context)
  if (status === 408 || status === 429 || status >= 500) {
    const what = status === 429 ? 'asks to wait' : 'has a problem'
    return new ModelError('not_sent', 'UPSTREAM_UNREACHABLE', text(what), context, retryAfterMs(headers, now))
  }
  if (status === 413 || isOverflow(body)) return overflowError(subject, status)
  if (status === 404) {
    const details = 'is not known to its provider'
    return new ModelError('answered', 'INVALID_INPUT_PARAM', text('has no such model'), {
      param: 'model',
      details,
      ...context,
    })
  }
  return new ModelError('answered', 'TOOL_ERROR', text('refuses the request'), context)
}

const overflow =
  /context_length_exceeded|exceed_context_size|context[ _](?:length|window|size)|prompt is too long|too many tokens|request_too_large/i

function isOverflow(body: string): boolean {
  return overflow.test(body)
}

function overflowError({ model }: Subject, status: number): ModelError {
  const message = `The request is longer than the window of "${model}"`
  return new ContextOverflow('answered', 'TOOL_ERROR', message, { model, status })
}

/**
 * Seconds or a date, and the milliseconds that OpenAI and Anthropic also send; 0 where it does not
 * say, so that its next try comes after a pause that grows.
 */
function retryAfterMs(headers: Headers, now: number): number {
  const exact = Number.parseFloat(headers.get('retry-after-ms') ?? '')
  if (exact >= 0) return Math.ceil(exact)
  const text = headers.get('retry-after') ?? ''
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.ceil(Number(text) * 1000)
  const date = Date.parse(text)
  return Number.isNaN(date) ? 0 : Math.max(0, date - now)
}

/** An error that came inside of a stream: the provider names its kind instead of a status. */
export function streamError(subject: Subject, thrown: unknown): AppError {
  // The SDK wraps what its reader of a body threw.
  for (let error = thrown; error instanceof Error; error = error.cause) if (error instanceof ModelError) return error
  const body = textOf(thrown)
  const status = Object.entries(streamStatus).find(([kind]) => body.includes(kind))?.[1]
  if (status !== undefined) return statusError(subject, status, body, new Headers(), 0)
  if (isOverflow(body)) return overflowError(subject, 400)
  if (thrown instanceof Error && !/JSON|Type|Validation|Invalid|No content/i.test(`${thrown.name} ${thrown.message}`))
    return connectionError(subject, thrown)
  const message = `The provider of "${subject.model}" sent what cannot be read: ${quoted(subject, reasonIn(body))}`
  return new ModelError('unknown', 'TOOL_INTERNAL_ERROR', message, { model: subject.model })
}

const streamStatus = {
  overloaded_error: 529,
  rate_limit: 429,
  api_error: 500,
  server_error: 500,
  timeout_error: 504,
  authentication_error: 401,
  permission_error: 403,
}

/** Whatever an SDK throws, as text to look for words in; never with the request that it holds. */
function textOf(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  if (!(thrown instanceof Error)) return JSON.stringify(thrown) ?? ''
  const { message, name } = thrown
  const body = 'responseBody' in thrown && typeof thrown.responseBody === 'string' ? thrown.responseBody : ''
  const data = 'data' in thrown ? (JSON.stringify(thrown.data) ?? '') : ''
  return `${name}: ${message} ${body.slice(0, limits.upstreamReasonCharactersMax)} ${data}`.trim()
}

function reasonIn(body: string): string {
  try {
    const value: unknown = JSON.parse(body)
    const error = isObject(value) && isObject(value.error) ? value.error : value
    if (isObject(error) && typeof error.message === 'string') return error.message
  } catch {}
  return body
}

/** A part of what a provider said, without keys however they are written. */
function quoted({ secrets }: Subject, text: string): string {
  let clean = text
  for (const secret of secrets)
    for (const form of [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').replace(/=+$/, '')])
      clean = clean.replaceAll(form, redactedSecret)
  return clean.replace(/\s+/g, ' ').trim().slice(0, limits.upstreamReasonCharactersMax)
}

/** The start of an error's body; no more of it is used. */
async function startOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > limits.resultPageDefault) break
    }
  } catch {}
  return Buffer.concat(chunks).toString()
}

function bounded(body: ReadableStream<Uint8Array>, { model }: Subject): ReadableStream<Uint8Array> {
  let bytes = 0
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length
      if (bytes <= limits.modelAnswerBytesMax) return controller.enqueue(chunk)
      const message = `The answer of "${model}" has more than ${limits.modelAnswerBytesMax} bytes`
      controller.error(new ModelError('answered', 'RESULT_TOO_LARGE', message, { model }))
    },
  })
  return body.pipeThrough(count)
}
