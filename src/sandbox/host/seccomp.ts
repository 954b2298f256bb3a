/**
 * A filter for system calls, as the kernel's own bytecode: what the engine's process never needs is
 * refused.
 */

type Architecture = { audit: number; column: 0 | 1 }
const architectures: Record<string, Architecture> = {
  x64: { audit: 0xc000003e, column: 0 },
  arm64: { audit: 0xc00000b7, column: 1 },
}

/** Numbers on x64 and arm64; null where the call does not exist. */
const refused: Record<string, readonly [number | null, number | null]> = {
  socket: [41, 198],
  socketpair: [53, 199],
  connect: [42, 203],
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  fork: [57, null],
  vfork: [58, null],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  move_mount: [429, 429],
  open_tree: [428, 428],
  mount_setattr: [442, 442],
  unshare: [272, 97],
  setns: [308, 268],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  open_by_handle_at: [304, 265],
  name_to_handle_at: [303, 264],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, null],
  ioperm: [173, null],
  acct: [163, 89],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  quotactl: [179, 60],
  vhangup: [153, 58],
  syslog: [103, 116],
  personality: [135, 92],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
}

/** By name, for a kernel that is told so. */
export const engineRefusals = Object.keys(refused)

/** What a script does and an engine never does: it starts processes and talks to itself. */
const scriptsNeed = ['socket', 'socketpair', 'connect', 'bind', 'listen', 'accept', 'accept4', 'fork', 'vfork']
/**
 * Beyond the list above: what has a history of holes and no use in a script, and memory that no
 * process seems to hold.
 */
const scriptsNeverNeed: typeof refused = {
  modify_ldt: [154, null],
  uselib: [134, null],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  fanotify_init: [300, 262],
  quotactl_fd: [443, 443],
  open_tree_attr: [467, 467],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  msgget: [68, 186],
}
const refusedToScripts = Object.fromEntries(
  Object.entries({ ...refused, ...scriptsNeverNeed }).filter(([name]) => !scriptsNeed.includes(name)),
)
export const scriptRefusals = Object.keys(refusedToScripts)

const clone = [56, 220] as const
const clone3 = [435, 435] as const
const socket = [41, 198] as const
const ioctl = [16, 29] as const
const cloneThread = 0x00010000
const anyNewNamespace = 0x7e020000
/**
 * AF_UNIX, AF_INET, AF_INET6: the namespace holds these. AF_VSOCK it would not, and AF_ALG and
 * others are ways into the kernel.
 */
const families = [1, 2, 10]
/** Words put into a terminal's input: TIOCSTI and TIOCLINUX. */
const terminalRequests = [0x5412, 0x541c]

const [load, jumpEqual, jumpAtLeast, jumpAnyBit, answer] = [0x20, 0x15, 0x35, 0x45, 0x06]
const [allow, kill, notPermitted, notThere] = [0x7fff0000, 0x80000000, 0x00050001, 0x00050026]
const [atNumber, atArchitecture, atFirstArgument, atSecondArgument] = [0, 4, 16, 24]
const x32Bit = 0x40000000

type Step = [code: number, ifTrue: number, ifFalse: number, value: number]

/** The filter for the process around an engine; null where we know no numbers for this machine. */
export function seccompFilter(machine: string = process.arch): Buffer | null {
  // A thread yes, a process no.
  const threads: Step[] = [
    [jumpAnyBit, 1, 0, cloneThread],
    [answer, 0, 0, notPermitted],
  ]
  return filterFor(machine, refused, threads)
}

/**
 * The filter for scripts: processes and sockets of its own namespace, no calls that reach around
 * the kernel's walls.
 */
export function scriptFilter(machine: string = process.arch): Buffer | null {
  const namespaces: Step[] = [
    [jumpAnyBit, 0, 1, anyNewNamespace],
    [answer, 0, 0, notPermitted],
  ]
  return filterFor(machine, refusedToScripts, namespaces, socketsAndTerminals)
}

function filterFor(
  machine: string,
  names: typeof refused,
  cloneSteps: Step[],
  more: (column: 0 | 1) => Step[] = () => [],
): Buffer | null {
  const architecture = architectures[machine]
  if (architecture === undefined) return null
  const { audit, column } = architecture
  const steps: Step[] = [
    [load, 0, 0, atArchitecture],
    [jumpEqual, 1, 0, audit],
    [answer, 0, 0, kill],
    [load, 0, 0, atNumber],
    [jumpAtLeast, 0, 1, x32Bit],
    [answer, 0, 0, kill],
    // The C library falls back to clone, whose flags can be read here.
    [jumpEqual, 0, 1, clone3[column]],
    [answer, 0, 0, notThere],
    [jumpEqual, 0, 4, clone[column]],
    [load, 0, 0, atFirstArgument],
    ...cloneSteps,
    [load, 0, 0, atNumber],
    ...more(column),
  ]
  for (const numbers of Object.values(names)) {
    const number = numbers[column]
    if (number !== null) steps.push([jumpEqual, 0, 1, number], [answer, 0, 0, notPermitted])
  }
  steps.push([answer, 0, 0, allow])
  return assemble(steps)
}

function socketsAndTerminals(column: 0 | 1): Step[] {
  return [
    [jumpEqual, 0, 3 + families.length, socket[column]],
    [load, 0, 0, atFirstArgument],
    ...families.map((family, i): Step => [jumpEqual, families.length - i, 0, family]),
    [answer, 0, 0, notPermitted],
    [load, 0, 0, atNumber],
    [jumpEqual, 0, 3 + terminalRequests.length, ioctl[column]],
    [load, 0, 0, atSecondArgument],
    ...terminalRequests.map((request, i): Step => {
      const isLast = i === terminalRequests.length - 1
      return [jumpEqual, terminalRequests.length - 1 - i, isLast ? 1 : 0, request]
    }),
    [answer, 0, 0, notPermitted],
    [load, 0, 0, atNumber],
  ]
}

function assemble(steps: Step[]): Buffer {
  const bytes = Buffer.alloc(steps.length * 8)
  for (const [i, [code, ifTrue, ifFalse, value]] of steps.entries()) {
    bytes.writeUInt16LE(code, i * 8)
    bytes[i * 8 + 2] = ifTrue
    bytes[i * 8 + 3] = ifFalse
    bytes.writeUInt32LE(value, i * 8 + 4)
  }
  return bytes
}
