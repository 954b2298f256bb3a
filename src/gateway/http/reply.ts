/** Answers over HTTP: JSON, errors in their two forms, and bytes no faster than they are read. */
import type { ServerResponse } from 'node:http'
import { type AppError, type ErrorCode, errorAnswer, isObject, toText } from '#model'

/** On every answer: nothing is cached, sniffed, framed or read by another page. */
export const securityHeaders = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
} as const

const statusByCode: { [Code in ErrorCode]?: number } = {
  INVALID_INPUT_PARAM: 400,
  MISSING_REQUIRED_PARAM: 400,
  PERMISSION_DENIED: 403,
  RUN_NOT_FOUND: 404,
  RUN_PURGED: 410,
  APPROVAL_EXPIRED: 410,
  STORE_FULL: 507,
  UPSTREAM_UNREACHABLE: 503,
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(toText(value))
}

export function statusOf({ code }: AppError): number {
  return statusByCode[code] ?? 500
}

export function sendError(response: ServerResponse, error: AppError, status = statusOf(error)): void {
  sendJson(response, errorAnswer(error), status)
}

/** An error of the MCP endpoint that no server instance gives, in the form of JSON-RPC. */
export function sendRpcError(
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
  id: string | number | null = null,
): void {
  sendJson(response, { jsonrpc: '2.0', id, error: { code, message } }, status)
}

/** Of a request in a body; null where there is none that could be answered. */
export function requestIdOf(body: unknown): string | number | null {
  const id = isObject(body) ? body.id : null
  return typeof id === 'string' || typeof id === 'number' ? id : null
}

/** Settled when more may be written: at once, when the reader caught up, or when it is gone. */
export function writeDrained(response: ServerResponse, text: string): Promise<void> {
  if (response.destroyed || response.write(text)) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}
