/**
 * The driver of tier `os`: namespaces, a filter of system calls and an unprivileged user, put
 * together by bubblewrap.
 */
import { join } from 'node:path'
import { limits } from '#model'
import { type BoxPlan, type Driver, firstProcess } from './box-plan.ts'

/**
 * Who the script is. `switched`: root makes the box and becomes the user `nobody` before the script
 * starts. `mapped`: in a user namespace, `nobody` is mapped to our own user.
 */
type BubblewrapUser = 'switched' | 'mapped'

type BubblewrapOptions = {
  bwrap: string
  user: BubblewrapUser
  isRoot: boolean
  seccomp: string | null
  /** Whether a control group bounds memory, and the number of tasks. */
  bounded: { memory: boolean; tasks: boolean }
}

const nobody = '65534'
/** The kernel counts the tasks of a user: where no group does, each box has a user of its own. */
const firstOwn = 2_000_000_000
/**
 * Of a single process, where the memory of all is measured: wide enough for the measuring to come
 * first and say what happened.
 */
const leeway = 4

export function bubblewrapDriver({ bwrap, user, isRoot, seccomp, bounded }: BubblewrapOptions): Driver {
  return {
    tier: 'os',
    binary: bwrap,
    command: async (plan) => [
      ...mortal(user),
      bwrap,
      ...namespaces(user),
      ...['--die-with-parent', '--new-session', '--as-pid-1', '--hostname', 'box', '--clearenv'],
      ...Object.entries(plan.environment).flatMap(([name, value]) => ['--setenv', name, value]),
      ...walls(plan),
      ...(seccomp ? ['--seccomp', '4'] : []),
      ...['--', ...become(user, bounded.tasks ? nobody : String(firstOwn + plan.serial)), ...firstProcess(plan)],
    ],
    groupBounds: ({ bounds }) => bounds,
    limitsTasks: !bounded.tasks,
    processLimits: ({ bounds }) =>
      [
        `ulimit -c 0 -n ${limits.scriptFilesMax} -f ${bounds.diskBytes / 1024} -t ${limits.scriptTimeoutSecondsMax}`,
        ...(bounded.memory ? [] : [`ulimit -d ${(leeway * bounds.memoryBytes) / 1024}`]),
      ].join('; '),
    seccomp,
    startsWithUs: user === 'mapped',
    leave: async () => {},
    layers: ['bubblewrap', 'namespaces', ...(seccomp ? ['seccomp'] : [])],
    degraded: [
      'names of host folders can be read in /proc/self/mountinfo',
      ...(seccomp ? [] : ['no filter of system calls is known for this machine']),
      ...(user === 'mapped' && isRoot
        ? ['its user stands for root on the host: files that root alone may read can be read']
        : []),
    ],
  }
}

function namespaces(user: BubblewrapUser): string[] {
  const shared = ['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try']
  if (user === 'mapped') return ['--unshare-user', ...shared, '--uid', nobody, '--gid', nobody, '--cap-drop', 'ALL']
  const toBecomeNobody = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP']
  return [...shared, '--cap-drop', 'ALL', ...toBecomeNobody.flatMap((name) => ['--cap-add', name])]
}

/**
 * Root of a namespace that maps us would be root on the host's files: as root we change the user
 * instead.
 */
function become(user: BubblewrapUser, id: string): string[] {
  if (user === 'mapped') return []
  const without = ['--clear-groups', '--bounding-set', '-all', '--inh-caps', '-all']
  return ['/usr/bin/setpriv', '--reuid', id, '--regid', id, ...without, '--']
}

/**
 * A process that changed its user no longer dies with its parent, and bubblewrap gave up the right
 * to kill it. So bubblewrap itself is the first process of a namespace: with the first the kernel
 * kills all.
 */
function mortal(user: BubblewrapUser): string[] {
  if (user === 'mapped') return []
  return ['/usr/bin/setpriv', '--pdeathsig', 'KILL', '--', '/usr/bin/unshare', '--pid', '--fork', '--kill-child', '--']
}

/** Everything is read-only but `/tmp`, `/dev/shm` and `/outputs`, which have a size. */
function walls({ view, folder, outbound, outputs, bounds, cwd }: BoxPlan): string[] {
  const sized = (bytes: number, path: string) => ['--size', String(bytes), '--perms', '1777', '--tmpfs', path]
  return [
    ...['--ro-bind', view.skeleton, '/'],
    ...view.binds.flatMap(({ from, to, writable }) => [writable ? '--bind' : '--ro-bind', from, to]),
    ...view.blanks.flatMap((path) => ['--size', '4096', '--tmpfs', path, '--remount-ro', path]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...sized(limits.scriptSharedMemoryBytesMax, '/dev/shm'),
    ...['--remount-ro', '/dev'],
    ...sized(bounds.diskBytes, '/tmp'),
    ...['--ro-bind', join(folder, 'inputs'), '/inputs'],
    ...(outputs ? sized(limits.scriptOutputFilesBytesMax, '/outputs') : []),
    ...(outbound ? ['--ro-bind', outbound, '/box/outbound'] : []),
    ...['--chdir', cwd],
  ]
}
