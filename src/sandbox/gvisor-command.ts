/**
 * The same box on a kernel of its own: a container for gVisor, with nothing of the host but what
 * the engine is made of.
 */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { limits } from '#model'
import { ownerName } from '#sandbox/host'
import type { BoxCommand } from './box.ts'

export type GvisorWalls = {
  kind: 'gvisor'
  runsc: string
  platform: 'systrap' | 'ptrace'
  /** Of this process: every box has a folder below it. */
  folder: string
  /** System calls that its kernel refuses, by name. */
  refusals: readonly string[]
}

type Inside = { shown: Record<string, string>; command: string[]; stackBytes: number; dataBytes: number }

let made = 0

export function gvisorCommand(walls: GvisorWalls, { shown, ...inside }: Inside): BoxCommand {
  made += 1
  const id = `program-${ownerName()}-${made}`
  const folder = join(walls.folder, String(made))
  const root = join(folder, 'root')
  const libraries = Object.fromEntries(
    ['/usr/lib', '/usr/lib64', '/lib', '/lib64'].flatMap((path) => libraryIn(root, path)),
  )
  const binds = { ...libraries, ...shown }
  for (const [from, to] of Object.entries(binds)) mountPoint(from, join(root, to))
  openToAll(root)
  // Shared by the boxes of a process: runsc keeps something mounted there for as long as we live.
  const state = join(walls.folder, 'runsc')
  mkdirSync(state, { recursive: true, mode: 0o700 })
  writeFileSync(join(folder, 'config.json'), JSON.stringify(configOf(walls, { root, binds, ...inside })))
  const isRoot = process.getuid?.() === 0
  const options = [
    `--root=${state}`,
    `--platform=${walls.platform}`,
    '--network=none',
    '--ignore-cgroups',
    '--oci-seccomp',
  ]
  // Where runsc dies its container does; where we die runsc must.
  const args = ['--pdeathsig', 'KILL', '--', walls.runsc, ...options, ...(isRoot ? [] : ['--rootless'])]
  return {
    file: '/usr/bin/setpriv',
    args: [...args, 'run', `--bundle=${folder}`, id],
    seccomp: null,
    leave() {
      const left = [`${id}_sandbox:${id}.lock`, `${id}_sandbox:${id}.state`, `runsc-${id}.sock`]
      for (const path of [folder, ...left.map((name) => join(state, name))])
        rmSync(path, { recursive: true, force: true })
    },
  }
}

/** As on the host: a link stays a link, a folder is shown. */
function libraryIn(root: string, path: string): [string, string][] {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  if (entry === undefined) return []
  if (!entry.isSymbolicLink()) return [[path, path]]
  mkdirSync(dirname(join(root, path)), { recursive: true })
  symlinkSync(readlinkSync(path), join(root, path))
  return []
}

function mountPoint(from: string, at: string): void {
  mkdirSync(dirname(at), { recursive: true })
  if (statSync(from).isDirectory()) mkdirSync(at, { recursive: true })
  else writeFileSync(at, '')
}

/**
 * Its kernel keeps to what folders allow, and the program runs as the user `nobody`: also where our
 * umask keeps folders to ourselves.
 */
function openToAll(root: string): void {
  const folders = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
  for (const folder of [root, ...folders.map(({ parentPath, name }) => join(parentPath, name))])
    chmodSync(folder, 0o755)
}

type Container = Omit<Inside, 'shown'> & { root: string; binds: Record<string, string> }

function configOf({ refusals }: GvisorWalls, { root, binds, command, stackBytes, dataBytes }: Container): object {
  const most = {
    RLIMIT_NOFILE: limits.boxFilesMax,
    RLIMIT_NPROC: limits.boxTasksMax,
    RLIMIT_DATA: dataBytes,
    RLIMIT_STACK: stackBytes,
    RLIMIT_CPU: limits.boxCpuSecondsMax,
    RLIMIT_FSIZE: 0,
    RLIMIT_CORE: 0,
  }
  const options = ['rbind', 'ro', 'nosuid', 'nodev']
  // Its kernel would put something there by itself that can be written to.
  const blank = ['ro', 'nosuid', 'nodev', 'size=4096']
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid: 65534, gid: 65534 },
      args: command,
      env: [],
      cwd: '/',
      capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
      noNewPrivileges: true,
      rlimits: Object.entries(most).map(([type, value]) => ({ type, soft: value, hard: value })),
    },
    root: { path: root, readonly: true },
    hostname: 'box',
    mounts: [
      ...Object.entries(binds).map(([source, destination]) => ({ destination, source, type: 'bind', options })),
      ...['/tmp', '/dev'].map((destination) => ({ destination, source: 'tmpfs', type: 'tmpfs', options: blank })),
    ],
    linux: {
      namespaces: ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      seccomp: {
        defaultAction: 'SCMP_ACT_ALLOW',
        syscalls: [{ names: refusals, action: 'SCMP_ACT_ERRNO' }],
      },
    },
  }
}
