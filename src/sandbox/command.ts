/** The command line of a box: limits of the process, then bubblewrap where it is there, then Node with the child. */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError, limits } from '#model'

export type BoxCommand = { file: string; args: string[]; seccomp: Buffer | null }

export type BoxOptions = {
  node: string
  /** null: no layer of the system around the process. */
  bwrap: string | null
  seccomp: Buffer | null
  /** What the system grants, at most `limits.boxStackBytesMax`. */
  stackBytes: number
}

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const child = script('./inside/child.ts')
const probe = script('./inside/probe.ts')
const inside = dirname(child)
const about = fileURLToPath(import.meta.resolve('#package'))
const quickjs = dirname(createRequire(import.meta.url).resolve('quickjs-wasi/package.json'))

/** The child as it runs programs. */
export function programCommand(options: BoxOptions): BoxCommand {
  const readable = options.bwrap ? ['/box'] : [inside, about, quickjs]
  return commandOf(options, child, ['--permission', ...readable.map((path) => `--allow-fs-read=${path}`)], [])
}

/** The same box around the probe, without Node's own permission model: what holds then is the box. */
export function probeCommand(options: BoxOptions, args: string[] = []): BoxCommand {
  return commandOf(options, probe, [], args)
}

function commandOf(options: BoxOptions, file: string, flags: string[], args: string[]): BoxCommand {
  const { bwrap, seccomp, stackBytes } = options
  const node = pathOfNode(options.node)
  const all = [...nodeFlags(stackBytes), ...flags]
  const started = bwrap
    ? [bwrap, ...wallsOf(node, seccomp), '/box/node', ...all, `/box/inside/${basename(file)}`]
    : [node, ...all, file]
  const limited = ['-c', `${limitsOfProcess(stackBytes)}; exec "$@"`, 'sh', ...started, ...args]
  return { file: '/bin/sh', args: limited, seccomp: bwrap ? seccomp : null }
}

function pathOfNode(node: string): string {
  try {
    return realpathSync(node)
  } catch (thrown) {
    throw new AppError('SANDBOX_SETUP_FAILED', `Cannot open a box: there is no Node at "${node}"`, { node }, thrown)
  }
}

/** A limit that this system refuses is passed over here, and missing in what the probe saw. */
function limitsOfProcess(stackBytes: number): string {
  const kilobytes = { s: stackBytes / 1024, d: limits.boxDataBytesMax / 1024 }
  const wanted = Object.entries({ c: 0, f: 0, n: limits.boxFilesMax, t: limits.boxCpuSecondsMax, ...kilobytes })
  return wanted.map(([name, value]) => `ulimit -${name} ${value} 2>/dev/null`).join('; ')
}

/**
 * V8's own stack must hold whatever the engine's can hold, so that the engine's limit is met first: that one is the same
 * in every run, while V8's depends on what it has compiled so far. A quarter is left to Node itself.
 */
function nodeFlags(stackBytes: number): string[] {
  return [
    `--stack-size=${Math.floor((stackBytes / 1024) * 0.75)}`,
    '--v8-pool-size=1',
    '--max-old-space-size=256',
    '--no-warnings',
  ]
}

/** Nothing of the host but libraries, Node, and the child with its engine: all read-only, without /proc and /dev. */
function wallsOf(node: string, seccomp: Buffer | null): string[] {
  const shown = {
    [node]: '/box/node',
    [inside]: '/box/inside',
    [about]: '/box/package.json',
    [quickjs]: '/box/node_modules/quickjs-wasi',
  }
  return [
    ...['--unshare-all', '--die-with-parent', '--new-session', '--as-pid-1', '--clearenv', '--cap-drop', 'ALL'],
    ...['--uid', '65534', '--gid', '65534', '--hostname', 'box'],
    ...['/usr/lib', '/usr/lib64', '/lib', '/lib64'].flatMap(libraryArguments),
    ...Object.entries(shown).flatMap(([from, to]) => ['--ro-bind', from, to]),
    ...['--remount-ro', '/', '--chdir', '/'],
    ...(seccomp ? ['--seccomp', '3'] : []),
  ]
}

function libraryArguments(path: string): string[] {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (entry === undefined) return []
  return entry.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}
