/** Commands that give and take back the right to use a server behind an address. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { AppError } from '#model'
import type { Command, Context } from '#show/cli'
import { exit, faint, good, strong } from '#show/cli'
import type { Logout } from '#verbs'

export const loginCommands: Record<string, Command> = {
  'servers login': {
    group: 'Set up',
    usage: 'servers login SERVER [--scope SCOPE] [--print]',
    does: 'log in to a server that asks for it; --print opens no browser',
    options: { scope: { type: 'string' }, print: { type: 'boolean' } },
    words: [1, 1],
    run: async (context) => {
      const { words, verbs, config, json, print, options } = context
      const server = words[0]!
      const { login } = await verbs()
      const input = createInterface({ input: process.stdin })
      const { scope } = options
      try {
        await login(server, {
          port: portOf(context, server),
          show: (url, redirectUrl) => show(context, url, redirectUrl),
          pasted: new Promise((resolve) => input.once('line', resolve)),
          signal: context.signal,
          ...(typeof scope === 'string' && { scope }),
        })
      } finally {
        input.close()
        process.stdin.unref?.()
      }
      if (json) print(JSON.stringify({ server, ok: true }))
      else print(`${good('✓')} Logged in to ${server}. The login is sealed in ${config.home}/keys and renews itself.`)
      return exit.done
    },
  },
  'servers logout': {
    group: 'Set up',
    usage: 'servers logout SERVER',
    does: 'forget the login to a server, and give its tokens back',
    words: [1, 1],
    run: async ({ words, verbs, json, print, signal }) => {
      const server = words[0]!
      const logout = await (await verbs()).logout(server, signal)
      const { had, ...rest } = logout
      if (json) print(JSON.stringify({ server, ok: had, ...rest }))
      else print(farewell(server, logout))
      return exit.done
    },
  },
}

function farewell(server: string, { had, revoked, why }: Logout): string {
  if (!had) return `There was no login to ${server}`
  if (revoked) return `${good('✓')} The login to ${server} is forgotten, and its tokens are revoked`
  const state = why === undefined ? 'its issuer takes no tokens back' : `its issuer could not be told: ${why}`
  return `${good('✓')} The login to ${server} is forgotten here; ${state}, so its tokens are good until they end`
}

/**
 * The port that the configuration names, for authorization servers that know our address
 * beforehand.
 */
function portOf({ config }: Context, name: string): number {
  const server = config.servers[name]
  if (server === undefined || server.type === 'stdio') return 0
  if (server.oauth.grant === 'authorization_code') return server.oauth.redirectPort
  const message = `Cannot log in to "${name}": by its configuration it takes our own credentials, and nobody's login`
  throw new AppError('CONFIG_INVALID', message, { server: name })
}

function show({ json, print, note, options }: Context, url: URL, redirectUrl: string): void {
  const say = json ? note : print
  const opened = !json && options.print !== true && process.stdout.isTTY === true
  say(`${opened ? 'Your browser opens' : 'Open'} this address and log in:\n\n  ${strong(url.href)}\n`)
  say(faint(`Waiting for the browser to come back to ${redirectUrl} …`))
  say(faint('If it runs on another machine, paste the address that it ends up at here, and press Enter.'))
  if (opened) open(url.href)
}

/** Where no browser can be opened, the address stands on the screen. */
function open(url: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler']
        : ['xdg-open']
  spawn(command!, [...args, url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}
