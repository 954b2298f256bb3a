/** The command line of a box: limits of the process, then bubblewrap where it is there, then Node with the child. */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { limits } from '#model'

export type BoxCommand = { file: string; args: string[]; seccomp: Buffer | null }

export type BoxOptions = {
  node: string
  /** null: no layer of the system around the process. */
  bwrap: string | null
  seccomp: Buffer | null
  /** How much stack the process may have: the system's word, at most what we want. */
  stackKb: number
}

/** What Node itself needs of its stack, beside what V8 may use of it. */
const stackReservedKb = 4096

const inside = fileURLToPath(new URL('./inside', import.meta.url))
const quickjs = dirname(createRequire(import.meta.url).resolve('quickjs-wasi/package.json'))

/** In KB and blocks, as `ulimit` counts; a limit that the shell does not know is passed over, and the self-test says so. */
const limitsOfProcess = (stackKb: number) =>
  `ulimit -c 0; ulimit -f 0; ulimit -n ${limits.boxFilesMax}; ulimit -s ${stackKb}; ulimit -d ${limits.boxDataBytesMax / 1024}; exec "$@"`

/**
 * V8's own stack must hold whatever the engine's 256 KB can hold, so that the engine's limit is met first: it is the
 * same in every run, while V8's depends on what it has compiled so far. 12 MB were measured to be enough.
 */
const nodeFlags = (stackKb: number) => [
  `--stack-size=${stackKb - stackReservedKb}`,
  '--max-old-space-size=256',
  '--no-warnings',
]

/** The child as it runs programs. */
export function programCommand(options: BoxOptions): BoxCommand {
  const readable = options.bwrap ? ['/box'] : [inside, quickjs]
  return commandOf(options, 'child.ts', ['--permission', ...readable.map((path) => `--allow-fs-read=${path}`)])
}

/** The same box around the probe, without Node's own permission model: what holds then is the box. */
export function probeCommand(options: BoxOptions, args: string[]): BoxCommand {
  return commandOf(options, 'probe.ts', [], args)
}

function commandOf(options: BoxOptions, script: string, flags: string[], args: string[] = []): BoxCommand {
  const { bwrap, seccomp } = options
  const node = realpathSync(options.node)
  const node_ = nodeFlags(options.stackKb)
  const started = bwrap
    ? [bwrap, ...wallsOf(node, seccomp), '/box/node', ...node_, ...flags, `/box/inside/${script}`, ...args]
    : [node, ...node_, ...flags, `${inside}/${script}`, ...args]
  return {
    file: '/bin/sh',
    args: ['-c', limitsOfProcess(options.stackKb), 'sh', ...started],
    seccomp: bwrap ? seccomp : null,
  }
}

/** Nothing of the host but the system's libraries, Node, and the child with its engine; all read-only, no /proc, no /dev. */
function wallsOf(node: string, seccomp: Buffer | null): string[] {
  return [
    ...['--unshare-all', '--die-with-parent', '--new-session', '--as-pid-1', '--clearenv', '--cap-drop', 'ALL'],
    ...['--uid', '65534', '--gid', '65534', '--hostname', 'box'],
    ...['/usr/lib', '/usr/lib64', '/lib', '/lib64'].flatMap(libraryArguments),
    ...[
      '--ro-bind',
      node,
      '/box/node',
      '--ro-bind',
      inside,
      '/box/inside',
      '--ro-bind',
      quickjs,
      '/box/node_modules/quickjs-wasi',
    ],
    ...['--remount-ro', '/', '--chdir', '/'],
    ...(seccomp ? ['--seccomp', '3'] : []),
  ]
}

function libraryArguments(path: string): string[] {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (entry === undefined) return []
  return entry.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path]
}
