/** Commands that serve and diagnose; what they do is loaded when they are asked for. */
import type { Command } from './command.ts'

export const systemCommands: Record<string, Command> = {
  serve: {
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
      const { serveHttp, serveStdio } = await import('./serve.ts')
      return context.options.stdio === true ? serveStdio(context) : serveHttp(context)
    },
  },
  doctor: {
    group: 'Set up',
    usage: 'doctor',
    does: 'check this machine, the configuration, the servers and the record',
    diagnoses: true,
    looks: true,
    words: [0, 0],
    run: async (context) => {
      const { doctor } = await import('./doctor.ts')
      return doctor(context)
    },
  },
}
