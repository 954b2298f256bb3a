/**
 * The command line of a box: limits of the process, then bubblewrap or gVisor where one is there,
 * then Node with the child.
 */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError, limits } from '#model'
import { killGroupScript } from '#sandbox/host'
import type { BoxCommand } from './box.ts'
import { type GvisorWalls, gvisorCommand } from './gvisor-command.ts'

/** What the system puts around the process of an engine. */
export type Walls = { kind: 'none' } | { kind: 'bubblewrap'; bwrap: string; seccomp: Buffer | null } | GvisorWalls

export type BoxOptions = {
  node: string
  walls: Walls
  /** What the system grants, at most `limits.boxStackBytesMax`. */
  stackBytes: number
  /** A file that another engine is loaded from, inside the box alone; null: QuickJS. */
  addon: string | null
  /** What runs inside walls, as JavaScript; without it as it stands in the source. */
  inside?: string
}

/** Where the box shows that file. */
export const addonInside = '/box/isolated-vm.node'

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const child = script('./inside/child.ts')
const probe = script('./inside/probe.ts')
/** What runs inside boxes, as it stands in the source. */
export const insideSource = dirname(child)
const about = fileURLToPath(import.meta.resolve('#package'))
const quickjs = dirname(createRequire(import.meta.url).resolve('quickjs-wasi/package.json'))

/** The child as it runs programs. */
export function programCommand(options: BoxOptions): BoxCommand {
  const readable = options.walls.kind === 'none' ? [insideSource, about, quickjs] : ['/box']
  const addons = options.addon ? ['--allow-addons', '--no-node-snapshot'] : []
  const flags = ['--permission', ...readable.map((path) => `--allow-fs-read=${path}`), ...addons]
  return commandOf(options, child, flags, [])
}

/**
 * The same box around the probe, without Node's own permission model: what holds then is the box.
 */
export function probeCommand(options: BoxOptions, args: string[] = []): BoxCommand {
  return commandOf(options, probe, [], args)
}

function commandOf(options: BoxOptions, file: string, flags: string[], args: string[]): BoxCommand {
  const { walls, stackBytes, addon } = options
  const node = pathOfNode(options.node)
  const all = [...(addon ? [] : [stackFlag(stackBytes)]), ...nodeFlags, ...flags]
  if (walls.kind === 'none') return limited(options, [node, ...all, file, ...args], null)
  const { inside = insideSource } = options
  const started = ['/box/node', ...all, `/box/inside/${nameIn(inside, file)}`, ...args]
  const shown = {
    ...shownAlways,
    [inside]: '/box/inside',
    [node]: '/box/node',
    ...(addon ? { [addon]: addonInside } : {}),
  }
  if (walls.kind === 'gvisor')
    return gvisorCommand(walls, { shown, command: started, stackBytes, dataBytes: dataBytesOf(options) })
  const start = `${killGroupScript(4)} exec "$@" 4>&-`
  const command = [walls.bwrap, ...wallsOf(shown, walls.seccomp), ...started]
  return { ...limited(options, command, walls.seccomp, start), startsWithUs: true }
}

function nameIn(inside: string, file: string): string {
  return inside === insideSource ? basename(file) : basename(file).replace(/\.ts$/, '.js')
}

function limited(options: BoxOptions, command: string[], seccomp: Buffer | null, start = 'exec "$@"'): BoxCommand {
  return { file: '/bin/sh', args: ['-c', `${limitsOfProcess(options)}; ${start}`, 'sh', ...command], seccomp }
}

export function dataBytesOf({ addon }: BoxOptions): number {
  return addon ? limits.boxV8DataBytesMax : limits.boxDataBytesMax
}

function pathOfNode(node: string): string {
  try {
    return realpathSync(node)
  } catch (thrown) {
    throw new AppError('SANDBOX_SETUP_FAILED', `Cannot open a box: there is no Node at "${node}"`, { node }, thrown)
  }
}

/** A limit that this system refuses is passed over here, and missing in what the probe saw. */
function limitsOfProcess(options: BoxOptions): string {
  const kilobytes = { s: options.stackBytes / 1024, d: dataBytesOf(options) / 1024 }
  const wanted = Object.entries({ c: 0, f: 0, n: limits.boxFilesMax, t: limits.boxCpuSecondsMax, ...kilobytes })
  return wanted.map(([name, value]) => `ulimit -${name} ${value} 2>/dev/null`).join('; ')
}

/**
 * V8's own stack must hold whatever the engine's can hold, so that the engine's limit is met first:
 * that one is the same in every run, while V8's depends on what it has compiled so far. A quarter
 * is left to Node itself.
 */
function stackFlag(stackBytes: number): string {
  return `--stack-size=${Math.floor((stackBytes / 1024) * 0.75)}`
}

const nodeFlags = ['--v8-pool-size=1', '--max-old-space-size=256', '--no-warnings']

/** Nothing of the host but libraries, Node, the child with its engine, and these. */
const shownAlways: Record<string, string> = {
  [about]: '/box/package.json',
  [quickjs]: '/box/node_modules/quickjs-wasi',
}

/** All read-only, without /proc and /dev. */
function wallsOf(shown: Record<string, string>, seccomp: Buffer | null): string[] {
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
