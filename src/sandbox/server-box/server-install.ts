/**
 * A server that npx runs is installed first, in a box that reaches the package registry and nothing
 * else, and sees none of the named folders. Afterwards npx finds it without a network, so that the
 * server itself needs none.
 */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { AppError, limits, sha256 } from '#model'
import { programOf } from './server-view.ts'
import type { ServerCommand, Way } from './server-way.ts'

type InstallOptions = {
  server: string
  command: string
  wanted: string
  home: string
  env: Record<string, string>
  registry: string
  signal: AbortSignal
}

/** The package that npx is told to run; null where there is none, or where only npx could tell. */
export function packageOf(command: string, args: readonly string[]): string | null {
  if (basename(command) !== 'npx') return null
  for (const [at, word] of args.entries()) {
    if (/^(?:-y|--yes|-q|--quiet|--silent)$/.test(word)) continue
    if (/^(?:-p|--package)$/.test(word)) return args[at + 1] ?? null
    if (word.startsWith('--package=')) return word.slice('--package='.length)
    return word.startsWith('-') ? null : word
  }
  return null
}

export async function installPackage(
  { server, command, wanted, home, env, registry: address, signal }: InstallOptions,
  open: (hosts: string[]) => Promise<Way>,
): Promise<void> {
  const mark = join(home, `.installed-${sha256(wanted).slice(0, 16)}`)
  if (existsSync(mark)) return
  const registry = new URL(address)
  const way = await open([`${registry.hostname}:${registry.port || (registry.protocol === 'http:' ? 80 : 443)}`])
  try {
    const npx = programOf(server, command, env.PATH ?? '')
    const words = [npx, '-y', '--package', wanted, '-c', ':']
    const { code, said } = await run(way.command(words, { ...env, npm_config_registry: registry.href }), signal)
    if (code !== 0) throw notInstalled(server, wanted, said)
    writeFileSync(mark, `${wanted}\n`, { mode: 0o600 })
  } finally {
    way.close()
  }
}

/** As npm would find it: the box does not see the files in which it would look. */
export function registryOf(env: Record<string, string>): string {
  const named = env.npm_config_registry ?? env.NPM_CONFIG_REGISTRY
  const file = env.npm_config_userconfig ?? join(env.HOME ?? '/', '.npmrc')
  const text = named === undefined && existsSync(file) ? readFileSync(file, 'utf8') : ''
  const found = named ?? /^\s*registry\s*=\s*(\S+)/m.exec(text)?.[1]
  return found !== undefined && URL.canParse(found) ? found : 'https://registry.npmjs.org/'
}

async function run({ command, args, env, cwd }: ServerCommand, signal: AbortSignal) {
  const late = AbortSignal.any([signal, AbortSignal.timeout(limits.serverInstallMsMax)])
  const child = spawn(command, args, { env, cwd, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said = (said + chunk).slice(-limits.upstreamReasonCharactersMax)
  })
  const stop = () => child.kill('SIGKILL')
  late.addEventListener('abort', stop, { once: true })
  if (late.aborted) stop()
  const code = await new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve))
  late.removeEventListener('abort', stop)
  return { code, said: late.aborted ? `it did not end in time\n${said}` : said }
}

function notInstalled(server: string, wanted: string, said: string): AppError {
  const words = said.trim() === '' ? '' : `; npm wrote: ${said.trim()}`
  const message = `Cannot install "${wanted}" into the box of the server "${server}"${words}`
  return new AppError('UPSTREAM_UNREACHABLE', message, { server })
}
