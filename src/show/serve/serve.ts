/**
 * `serve`: a configuration enters, a gateway over stdio or HTTP runs until it is stopped. It
 * refuses a passthrough of a server that the configuration does not name.
 */
import type { Command, Commands } from '#show/cli'

/** The gateway is loaded when it is started, not for a page of help. */
const serve: Command = {
  group: 'Set up',
  usage: 'serve [--stdio] [--port N] [--host H] [--passthrough SERVER] [--no-resume]',
  does: 'the gateway: MCP for your agent',
  options: {
    stdio: { type: 'boolean' },
    port: { type: 'string' },
    host: { type: 'string' },
    passthrough: { type: 'string' },
    'no-resume': { type: 'boolean' },
  },
  words: [0, 0],
  run: async (context) => {
    const { serveHttp, serveStdio } = await import('./serve-gateway.ts')
    return context.options.stdio === true ? serveStdio(context) : serveHttp(context)
  },
}

export const serveCommands = async (): Promise<Commands> => ({ serve })
