/**
 * The way in: MCP over HTTP and stdio enters, the three verbs answer; foreign hosts and origins,
 * and binding beyond loopback without authentication, are refused.
 */
export { tokenFile } from '#gateway/auth'
export { instructions, surface } from '#gateway/mcp'
export { type HttpGateway, serveHttp } from './serve-http.ts'
export { serveStdio } from './serve-stdio.ts'
