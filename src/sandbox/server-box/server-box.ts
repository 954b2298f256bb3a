/**
 * A box around a server that runs on this machine: bubblewrap with namespaces of its own, a filter
 * of system calls, the folders that are named, and no network but a proxy of ours to the hosts that
 * are named. Refuses where it cannot be closed.
 */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { AppError, limits, type ServerSandbox } from '#model'
import {
  findBinaries,
  notInstalled,
  notOnThisSystem,
  scriptFilter,
  scriptRefusals,
  usualPath,
  writeFilter,
} from '#sandbox/host'
import { installPackage, packageOf, registryOf } from './server-install.ts'
import { privateFolders, programOf, systemFolders, viewOf } from './server-view.ts'
import { nodeInside, openWay, type ServerCommand } from './server-way.ts'

type ServerBoxOptions = ServerCommand & {
  server: string
  sandbox: ServerSandbox
  /** Where filters, sockets and the server's own home are kept. */
  folder: string
  /**
   * Of ours, shown to no server: the home with its keys, the configuration with the secrets of
   * others.
   */
  hidden: readonly string[]
  signal: AbortSignal
  /** null: there is none. */
  bwrap?: string | null
}

export type ServerBox = {
  /** To be started in place of the server. */
  command: ServerCommand
  /** Takes the connections that were refused since the last time: `host:port`. */
  takeRefusals(): string[]
  close(): void
}

const homeInside = '/box/home'

export async function openServerBox(options: ServerBoxOptions): Promise<ServerBox> {
  const { server, sandbox, folder, env } = options
  const bwrap = bubblewrapOf(options)
  const seccomp = filterIn(folder, server)
  const home = join(folder, 'servers', server)
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const walls = (sandbox: ServerSandbox) => (way: string | null) =>
    wallsOf({ ...options, sandbox }, { bwrap, seccomp, home, way })
  const inside = { ...env, HOME: homeInside, TMPDIR: '/tmp' }
  const wanted = packageOf(options.command, options.args)
  const registry = registryOf(env)
  if (wanted !== null) {
    const install = { ...options, wanted, home, env: inside, registry }
    const empty: ServerSandbox = { tier: 'os', folders: [], write: [], hosts: [] }
    await installPackage(install, (hosts) => openWay(walls(empty), hosts, folder, 'the package registry'))
  }
  const way = await openWay(walls(sandbox), sandbox.hosts, folder, `"hosts" in the sandbox of "${server}"`)
  const npm = { npm_config_registry: registry, npm_config_offline: 'true', npm_config_update_notifier: 'false' }
  const started = wanted === null ? inside : { ...inside, ...npm }
  const program = [programOf(server, options.command, pathOf(env)), ...options.args]
  return { command: way.command(program, started), takeRefusals: way.takeRefusals, close: way.close }
}

type Parts = { bwrap: string; seccomp: string; home: string; way: string | null }

/**
 * The command up to the program in the box. Its environment is handed on, since arguments are
 * readable for every user of this machine. It has our user in a namespace of users without a
 * capability; `/proc` is read-only, because where that user is root the kernel's settings in it
 * would take our word.
 */
function wallsOf(options: ServerBoxOptions, { bwrap, seccomp, home, way }: Parts): string[] {
  const { server, command, args, env, sandbox, hidden, cwd, folder } = options
  const { uid, gid } = userInfo()
  const { empty, ...etc } = smallFiles(folder)
  const view = viewOf({ server, command, args, cwd, path: pathOf(env), sandbox, hidden, empty })
  const isShown = [...sandbox.folders, ...sandbox.write].some((place) => cwd === place || cwd.startsWith(`${place}/`))
  return [
    ...['/bin/sh', '-c', 'exec "$@" 4<"$0"', seccomp, bwrap],
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
    ...['--uid', String(uid), '--gid', String(gid), '--cap-drop', 'ALL', '--hostname', 'box', '--die-with-parent'],
    ...systemFolders(),
    ...Object.entries(etc).flatMap(([name, file]) => ['--ro-bind', file, `/etc/${name}`]),
    ...['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev', '--remount-ro', '/dev'],
    ...['--size', String(limits.serverBoxTmpBytesMax), '--perms', '1777', '--tmpfs', '/tmp'],
    ...view,
    ...['--bind', home, homeInside],
    ...(way === null
      ? []
      : ['--ro-bind', way, '/box/outbound', '--ro-bind', realpathSync(process.execPath), nodeInside]),
    ...privateFolders().flatMap((place) => ['--remount-ro', place]),
    ...['--remount-ro', '/', '--chdir', isShown ? cwd : homeInside, '--seccomp', '4', '--'],
  ]
}

function pathOf(env: Record<string, string>): string {
  return env.PATH ?? usualPath
}

function bubblewrapOf({ server, bwrap, env }: ServerBoxOptions): string {
  const found =
    process.platform === 'linux' ? findBinaries({ bwrap, path: `${pathOf(env)}:${usualPath}` } as never).os : null
  if (found !== null) return found
  const { detail, fix } = process.platform === 'linux' ? notInstalled('os') : notOnThisSystem('os')
  const state = `its configuration wants a box, and ${detail}. It is not started without one. Run: ${fix}`
  throw new AppError('SANDBOX_SETUP_FAILED', `Cannot start the server "${server}": ${state}`, {
    server,
    tier: 'os',
    fix,
  })
}

function filterIn(folder: string, server: string): string {
  const file = writeFilter(folder, { program: scriptFilter(), names: scriptRefusals })
  if (file !== null) return file
  const state = `no filter of system calls is known for ${process.arch}`
  throw new AppError('SANDBOX_SETUP_FAILED', `Cannot start the server "${server}" in a box: ${state}`, { server })
}

/**
 * The few files without which programs do not know who and where they are, and one with nothing in
 * it.
 */
function smallFiles(folder: string) {
  const { uid, gid } = userInfo()
  const texts = {
    passwd: `box:x:${uid}:${gid}:box:${homeInside}:/bin/sh\n`,
    group: `box:x:${gid}:\n`,
    hosts: '127.0.0.1 localhost\n::1 localhost\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
    empty: '',
  }
  const etc = join(folder, 'servers-etc')
  mkdirSync(etc, { recursive: true, mode: 0o700 })
  const written = Object.entries(texts).map(([name, text]) => {
    writeFileSync(join(etc, name), text, { mode: 0o644 })
    return [name, join(etc, name)]
  })
  return Object.fromEntries(written) as Record<keyof typeof texts, string>
}
