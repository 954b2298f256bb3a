/** The door: MCP over HTTP and stdio enters, the three verbs answer; foreign hosts and origins, and binding beyond loopback without authentication, are refused. */
export { tokenFile } from './bearer.ts'
export { type HttpDoor, serveHttp } from './http.ts'
export { serveStdio } from './stdio.ts'
export { instructions, surface } from './surface.ts'
