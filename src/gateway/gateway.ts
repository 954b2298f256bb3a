/** The door: MCP over HTTP and stdio enters, the three verbs answer; foreign hosts and origins, and binding beyond loopback, are refused. */
export { serveHttp } from './http.ts'
export { serveStdio } from './stdio.ts'
