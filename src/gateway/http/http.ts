/**
 * What the rest of the gateway needs of HTTP: bodies are read within their limits, answers, pages
 * and errors are written, clients that ask too often are refused, a server is closed in time.
 */
export { readBody, readForm } from './body.ts'
export { closeServer, whenClosed } from './close-server.ts'
export { type Html, html, sendHtml } from './html.ts'
export {
  clientOfAddress,
  countStartingCalls,
  openRateLimit,
  type RateLimit,
  sendTooManyRequests,
  tooManyRequests,
  tooManyRequestsReply,
} from './rate-limit.ts'
export { requestIdOf, securityHeaders, sendError, sendJson, sendRpcError, statusOf, writeDrained } from './reply.ts'
export type { Handler, Routes } from './routes.ts'
