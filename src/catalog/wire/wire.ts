/**
 * Transports to a server: stdio, streamable HTTP, HTTP with SSE. In go JSON-RPC messages; out come
 * messages, and for each tool call whether its request left us and was answered. Messages above the
 * limits of size and depth are refused.
 */
export { boundedFetch } from './bounded-fetch.ts'
export { HttpWire } from './http.ts'
export type { Receipt } from './receipts.ts'
export { isSessionLost } from './refused-requests.ts'
export { SseWire } from './sse.ts'
export { StdioWire } from './stdio.ts'
