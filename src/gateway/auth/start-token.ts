/**
 * The token of this start: a person who saw it at the terminal may change things; a browser keeps
 * it in a cookie.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { AppError, sha256Bytes } from '#model'

export type StartToken = {
  readonly value: string
  is(text: string): boolean
  /** True where a request brings it: in the cookie of a browser, or in the header of a program. */
  isIn(headers: IncomingHttpHeaders): boolean
  /** The same, or in the link that brings it for the first time. */
  isInRequest(request: IncomingMessage): boolean
  /**
   * A browser that sends the cookie also says which page made it send something; a foreign one was
   * refused before.
   */
  mayChange(headers: IncomingHttpHeaders): boolean
  /** No other site makes a browser send it, and no script reads it. */
  readonly cookie: string
}

/**
 * Browsers do not tell the ports of a machine apart: the name of the cookie does, so that two
 * gateways do not disturb each other.
 */
export function newStartToken(url: string): StartToken {
  const { port, protocol } = new URL(url)
  const value = randomBytes(32).toString('base64url')
  const name = `metier-${port || protocol.slice(0, -1)}`
  const secure = protocol === 'https:' ? '; Secure' : ''
  const is = (text: string) => timingSafeEqual(sha256Bytes(text), sha256Bytes(value))
  const inHeader = (headers: IncomingHttpHeaders) => is(String(headers['x-metier-token'] ?? ''))
  const inCookie = ({ cookie = '' }: IncomingHttpHeaders) =>
    cookie.split('; ').some((each) => each.startsWith(`${name}=`) && is(each.slice(name.length + 1)))
  return {
    value,
    is,
    isIn: (headers) => inHeader(headers) || inCookie(headers),
    isInRequest: (request) => inHeader(request.headers) || inCookie(request.headers) || is(tokenIn(request) ?? ''),
    mayChange: (headers) => inHeader(headers) || (headers.origin !== undefined && inCookie(headers)),
    cookie: `${name}=${value}; HttpOnly; SameSite=Strict; Path=/${secure}`,
  }
}

/**
 * Of the link that "metier serve" prints; what stands before the query is not looked at, since any
 * client may send anything there.
 */
export function tokenIn({ url = '' }: IncomingMessage): string | null {
  const query = url.indexOf('?')
  return query < 0 ? null : new URLSearchParams(url.slice(query)).get('token')
}

export function startTokenMissing(): AppError {
  const how = 'open the link that "metier serve" printed, or send it as X-Metier-Token'
  return new AppError('PERMISSION_DENIED', `Cannot change anything: this needs the token of this start; ${how}`)
}
