/** The handlers of one path, by HTTP method. */
import type { IncomingMessage, ServerResponse } from 'node:http'

export type Handler = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>
export type Routes = Record<string, Handler>
