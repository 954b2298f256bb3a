/** The driver of tier `gvisor`: runsc runs the box as a container on a kernel of its own. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '#model'
import { type BoxPlan, type Driver, firstProcess } from './box-plan.ts'

/** How gVisor gets hold of system calls; the faster one first. */
export const platforms = ['systrap', 'ptrace'] as const
type Platform = (typeof platforms)[number]

type GvisorOptions = {
  runsc: string
  platform: Platform
  isRoot: boolean
  /** Where runsc keeps the state of its containers; one folder for all boxes of a process. */
  stateFolder: string
  /** System calls that its kernel refuses, though they would only reach itself. */
  refusals: readonly string[]
}

export function gvisorDriver({ runsc, platform, isRoot, stateFolder, refusals }: GvisorOptions): Driver {
  return {
    tier: 'gvisor',
    binary: runsc,
    async command(plan) {
      const bundle = join(plan.folder, 'bundle')
      await mkdir(bundle)
      await writeFile(join(bundle, 'config.json'), JSON.stringify(configOf(plan, refusals)))
      const options = [
        `--root=${stateFolder}`,
        `--platform=${platform}`,
        '--network=none',
        '--ignore-cgroups',
        '--oci-seccomp',
      ]
      if (!isRoot) options.push('--rootless')
      if (plan.outbound) options.push('--host-uds=open')
      // Where runsc dies its container does; where we die runsc must.
      const dyingWithUs = ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--']
      return [...dyingWithUs, runsc, ...options, 'run', '--pass-fd=3:3', `--bundle=${bundle}`, plan.id]
    },
    // The kernel of the box counts too, and its threads count as tasks: the promise to the script
    // is kept inside.
    groupBounds: ({ bounds }) => ({
      ...bounds,
      memoryBytes: bounds.memoryBytes + limits.scriptSentryBytesMax,
      tasks: limits.scriptSentryTasksMax,
    }),
    limitsTasks: false,
    processLimits: () => 'ulimit -c 0',
    seccomp: null,
    startsWithUs: false,
    async leave({ id }) {
      const left = [`${id}_sandbox:${id}.lock`, `${id}_sandbox:${id}.state`, `runsc-${id}.sock`]
      for (const name of left) await rm(join(stateFolder, name), { force: true })
    },
    layers: ['gvisor', platform, 'namespaces', 'seccomp'],
    degraded: platform === 'systrap' ? [] : ['each system call takes about a hundred times as long as with systrap'],
  }
}

/** The container, as the Open Container Initiative describes one. */
function configOf(plan: BoxPlan, refusals: readonly string[]): object {
  const { environment, view, bounds } = plan
  const none = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] }
  const most = {
    RLIMIT_NOFILE: limits.scriptFilesMax,
    RLIMIT_NPROC: bounds.tasks,
    RLIMIT_FSIZE: bounds.diskBytes,
    RLIMIT_CORE: 0,
  }
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid: 65534, gid: 65534 },
      args: firstProcess(plan),
      env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      cwd: plan.cwd,
      capabilities: none,
      noNewPrivileges: true,
      rlimits: Object.entries(most).map(([type, value]) => ({ type, soft: value, hard: value })),
    },
    root: { path: view.skeleton, readonly: true },
    hostname: 'box',
    mounts: mountsOf(plan),
    linux: {
      namespaces: ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      seccomp: {
        defaultAction: 'SCMP_ACT_ALLOW',
        syscalls: [{ names: refusals, action: 'SCMP_ACT_ERRNO' }],
      },
    },
  }
}

function mountsOf({ view, folder, outbound, outputs, bounds }: BoxPlan): object[] {
  const closed = ['nosuid', 'nodev']
  const bind = (from: string, to: string, writable = false) => {
    return { destination: to, type: 'bind', source: from, options: ['rbind', writable ? 'rw' : 'ro', ...closed] }
  }
  const sized = (to: string, bytes: number, ...more: string[]) => {
    return { destination: to, type: 'tmpfs', source: 'tmpfs', options: [...closed, `size=${bytes}`, ...more] }
  }
  return [
    { destination: '/proc', type: 'proc', source: 'proc' },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs' },
    sized('/dev/shm', limits.scriptSharedMemoryBytesMax, 'mode=1777'),
    sized('/tmp', bounds.diskBytes, 'mode=1777'),
    ...view.binds.map(({ from, to, writable }) => bind(from, to, writable)),
    ...view.blanks.map((path) => sized(path, 4096, 'ro')),
    bind(join(folder, 'inputs'), '/inputs'),
    ...(outputs ? [sized('/outputs', limits.scriptOutputFilesBytesMax, 'mode=1777')] : []),
    ...(outbound ? [bind(outbound, '/box/outbound')] : []),
  ]
}
