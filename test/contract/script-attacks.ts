/**
 * Scripts of ours that try to get out, to see what is not theirs, or to take more than they may:
 * each prints OPEN where it succeeds.
 */

/** What an attack may end in. */
export type AttackEnd = 'result' | 'SANDBOX_TIMEOUT' | 'SANDBOX_RESOURCE_LIMIT' | 'SANDBOX_EXECUTION_FAILED'

export type Attack = {
  name: string
  interpreter: 'python' | 'bash'
  script: string
  /** All that are allowed, where the tiers differ in what they let a script try. */
  ends: AttackEnd[]
  timeoutSeconds: number
  /** gVisor's own kernel may seem to obey: what it does reaches nothing but itself. */
  isImitated: boolean
}

/** What the attacks look for on the host; the suite puts it there. */
export type Bait = { secretFile: string; secret: string; port: number; socket: string; abstractSocket: string }

type Table = Record<string, string | [script: string, ...AttackEnd[]]>

/**
 * Each system call by number, as a program without a library would make it; OPEN if the kernel
 * obeys.
 */
function call(number: string, ...args: (string | number)[]): string {
  return `
import ctypes, platform
if platform.machine() == 'x86_64':
  libc = ctypes.CDLL(None, use_errno=True)
  result = libc.syscall(${[number, ...args].join(', ')})
  print('OPEN' if result >= 0 else 'no', result, ctypes.get_errno())`
}

/** Each line is tried; OPEN if it does not fail. */
function each(...lines: string[]): string {
  const tries = lines.map((line) => `lambda: ${line}`).join(', ')
  return `
import os, socket, subprocess, ctypes
for number, act in enumerate([${tries}]):
  try: print('OPEN', number, repr(act())[:200])
  except BaseException as e: print('no', number, type(e).__name__)`
}

export function attacks(bait: Bait): Attack[] {
  const { secretFile, port, socket, abstractSocket } = bait
  const python: Table = {
    'reads files of the host': each(
      `open('/etc/shadow').read()`,
      `open('${secretFile}').read()`,
      `open('/etc/hostname').read()`,
    ),
    'reads them through the root of process 1': each(
      `open('/proc/1/root${secretFile}').read()`,
      `open('/proc/self/root${secretFile}').read()`,
    ),
    'reads them through the folder of process 1': each(`open('/proc/1/cwd/../..${secretFile}').read()`),
    'climbs out of a mount': each(`os.chdir('/inputs') or os.chdir('../../../..') or open('.${secretFile}').read()`),
    'climbs out with a descriptor': `
import os
fd = os.open('/inputs', os.O_RDONLY)
for i in range(20): fd = os.open('..', os.O_RDONLY, dir_fd=fd)
try: print('OPEN', os.open('.${secretFile}', os.O_RDONLY, dir_fd=fd))
except OSError as e: print('no', e)`,
    'follows a link that it made': each(`os.symlink('${secretFile}', '/tmp/l') or open('/tmp/l').read()`),
    'lists homes': each(`os.listdir('/root')`, `os.listdir('/home')`, `os.listdir('/var/lib')`, `os.listdir('/run')`),
    'writes to the system': each(
      ...['/', '/usr/', '/usr/bin/', '/etc/', '/dev/', '/box/', '/usr/local/', '/inputs/'].map(
        (path) => `open('${path}x', 'w')`,
      ),
    ),
    'changes what is there': each(
      `open('/etc/passwd', 'a')`,
      `os.unlink('/etc/passwd')`,
      `os.chmod('/etc', 0o777)`,
      `os.rename('/etc', '/tmp/etc')`,
      `open('/usr/bin/python3', 'r+')`,
    ),
    'makes devices': each(
      `os.mknod('/tmp/d', 0o60666, os.makedev(8, 0))`,
      `os.mknod('/tmp/c', 0o20666, os.makedev(1, 1))`,
    ),
    'opens devices': each(
      ...['mem', 'kmem', 'port', 'kmsg', 'sda', 'vda', 'nvme0n1', 'kvm', 'vhost-vsock', 'loop-control'].map(
        (name) => `open('/dev/${name}', 'rb')`,
      ),
    ),
    'opens devices that make file systems and networks (imitated)': each(
      `open('/dev/fuse', 'rb')`,
      `open('/dev/net/tun', 'rb')`,
    ),
    'reads the memory of the kernel': each(
      `open('/proc/kcore', 'rb').read(1)`,
      `int(open('/proc/kallsyms').read(16), 16) or 1 / 0`,
    ),
    'sets switches of the kernel': each(
      ...[
        'sysrq-trigger',
        'sys/kernel/core_pattern',
        'sys/kernel/hostname',
        'sys/vm/drop_caches',
        'sys/kernel/modprobe',
        'sys/net/ipv4/ip_forward',
      ].map((name) => `open('/proc/${name}', 'w').write('1')`),
    ),
    'sets switches in /sys': each(
      `open('/sys/kernel/uevent_helper', 'w').write('/tmp/x')`,
      `open('/sys/fs/cgroup/memory/release_agent', 'w').write('x')`,
      `open('/sys/power/state', 'w').write('mem')`,
    ),
    'leaves its control group': each(
      ...['memory', 'pids', 'cpu', ''].map(
        (name) => `open('/sys/fs/cgroup/${name}/cgroup.procs', 'w').write(str(os.getpid()))`,
      ),
    ),
    'reads the environment of others': `
import glob
text = b''.join(open(f, 'rb').read() for f in glob.glob('/proc/[0-9]*/environ'))
print('OPEN' if b'CANARY' in text else 'no')`,
    'finds descriptors that are not its own': `
import os
for fd in range(3, 1024):
  try: print('OPEN', fd, os.readlink('/proc/self/fd/%d' % fd))
  except OSError: pass
print('no')`,
    'sees processes of the host': `
import os
pids = [p for p in os.listdir('/proc') if p.isdigit()]
print('OPEN' if len(pids) > 8 else 'no', len(pids))`,
    'writes into the memory of process 1': each(
      `open('/proc/1/mem', 'r+b').seek(4096) and open('/proc/1/mem', 'r+b').read(1)`,
    ),
    'becomes root': each(
      `os.setuid(0)`,
      `os.setgid(0)`,
      `os.setgroups([0])`,
      `os.setresuid(0, 0, 0)`,
      `os.chown('/tmp', 0, 0)`,
    ),
    'becomes root in a namespace': call('272', '0x10000000'),
    'joins another namespace': call('308', `__import__('os').open('/proc/1/ns/mnt', 0)`, 0),
    'traces process 1': call('101', 16, 1, 0, 0),
    'reads memory across processes': `
import ctypes, os
class v(ctypes.Structure): _fields_ = [('b', ctypes.c_void_p), ('n', ctypes.c_size_t)]
buf = ctypes.create_string_buffer(8)
local, remote = v(ctypes.addressof(buf), 8), v(0x400000, 8)
print('OPEN' if ctypes.CDLL(None).process_vm_readv(1, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) > 0 else 'no')`,
    mounts: call('165', `b'tmpfs'`, `b'/tmp'`, `b'tmpfs'`, 0, 0),
    'opens a file system': call('430', `b'tmpfs'`, 0),
    'clones a tree of mounts': call('428', -100, `b'/usr'`, 1),
    'changes its root': call('161', `b'/tmp'`),
    'moves its root': call('155', `b'/tmp'`, `b'/tmp'`),
    'opens by handle': call('304', 3, `b'x' * 64`, 0),
    'loads a program into the kernel': call('321', 5, `b'x' * 120`, 120),
    'counts events of the processor': call('298', `b'x' * 120`, 0, -1, -1, 0),
    'asks for a ring': call('425', 8, `b'\\0' * 240`),
    'handles faults itself': call('323', 0),
    'adds a key to the ring of keys': call('248', `b'user'`, `b'x'`, `b'y'`, 1, -2),
    'reads the ring of keys': call('250', 0, -3, 1),
    'loads a module': call('175', `b'x' * 64`, 64, `b''`),
    'boots another kernel': call('246', 0, 0, 0, 0),
    'restarts the machine': call('169', '0xfee1dead', 672274793, '0x1234567', 0),
    'renames the machine': call('170', `b'pwned'`, 5),
    'sets the clock': call('164', `b'\\0' * 16`, 0),
    'talks to ports': call('172', 3),
    'makes itself more important (imitated)': each(
      `os.nice(-10)`,
      `os.setpriority(os.PRIO_PROCESS, 0, -20)`,
      `os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))`,
    ),
    'raises its limits': `
import resource
for name in ('RLIMIT_NOFILE', 'RLIMIT_CORE', 'RLIMIT_FSIZE'):
  limit = getattr(resource, name)
  try: resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)); print('OPEN', name)
  except (ValueError, OSError): print('no')`,
    'types into a terminal': `
import fcntl
for fd in (0, 1, 2):
  try: fcntl.ioctl(fd, 0x5412, b'x'); print('OPEN')
  except OSError: print('no')`,
    'connects to a port of the host': each(
      `socket.create_connection(('127.0.0.1', ${port}), 2)`,
      `socket.create_connection(('localhost', ${port}), 2)`,
      `socket.create_connection(('::1', ${port}), 2)`,
    ),
    'connects to the world': each(
      `socket.create_connection(('8.8.8.8', 53), 2)`,
      `socket.create_connection(('169.254.169.254', 80), 2)`,
      `socket.getaddrinfo('example.org', 80)`,
    ),
    'sends to the world': each(`socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53))`),
    'connects to a socket of the host': each(
      `socket.socket(socket.AF_UNIX).connect('${socket}')`,
      `socket.socket(socket.AF_UNIX).connect('\\0${abstractSocket}')`,
      `socket.socket(socket.AF_UNIX).connect('/run/docker.sock')`,
    ),
    'opens raw sockets': each(
      `socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)`,
      `socket.socket(17, socket.SOCK_RAW, 3)`,
    ),
    'talks to the hypervisor': each(`socket.socket(40, socket.SOCK_STREAM).connect((2, 1))`),
    'uses the crypto of the kernel': each(`socket.socket(38, socket.SOCK_SEQPACKET).bind(('hash', 'sha256'))`),
    'fills memory': [`a = []\nwhile True: a.append(b'x' * (10 << 20))`, 'SANDBOX_RESOURCE_LIMIT'],
    'fills memory with its children': [
      `
import os, time
for i in range(20):
  if os.fork() == 0:
    x = b'x' * (60 << 20); time.sleep(5); os._exit(0)
time.sleep(5)`,
      'SANDBOX_RESOURCE_LIMIT',
    ],
    'hides memory in files without a name': [
      `
import os
files = []
try:
  while len(files) < 100:
    files.append(os.memfd_create('x')); os.write(files[-1], b'x' * (10 << 20))
  print('OPEN')
except OSError as e: print('no', e)`,
      'result',
      'SANDBOX_RESOURCE_LIMIT',
    ],
    'hides memory in shared segments': [
      `
import ctypes
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
n = 0
for i in range(100):
  s = libc.shmget(0, 10 << 20, 0o1600)
  if s < 0: break
  p = libc.shmat(s, None, 0)
  if p in (None, ctypes.c_void_p(-1).value): break
  ctypes.memset(p, 1, 10 << 20); libc.shmdt(ctypes.c_void_p(p)); n += 1
print('OPEN' if n > 60 else 'no')`,
      'result',
      'SANDBOX_RESOURCE_LIMIT',
    ],
    'fills /tmp and /dev/shm': `
for path, most in (('/tmp/f', 64 << 20), ('/dev/shm/f', 1 << 20)):
  n = 0
  try:
    with open(path, 'wb', 0) as f:
      while n <= most: n += f.write(b'x' * 65536)
    print('OPEN', path)
  except OSError as e: print('no', e.errno)`,
    'makes a file larger than its disk': each(`open('/tmp/big', 'wb').truncate(1 << 40)`),
    'makes empty files without end': [
      `
import os
try:
  for i in range(10 ** 9): os.close(os.open('/tmp/%d' % i, os.O_CREAT))
except OSError as e: print('no', e)`,
      'result',
      'SANDBOX_RESOURCE_LIMIT',
      'SANDBOX_TIMEOUT',
    ],
    'makes threads without end': `
import threading, time, os
n = 0
try:
  while n < 2000: threading.Thread(target=time.sleep, args=(9,), daemon=True).start(); n += 1
  print('OPEN')
except RuntimeError: print('no')
import sys; sys.stdout.flush(); os._exit(0)`,
    'opens files without end': `
import os
n = 0
try:
  while n < 5000: os.pipe(); n += 1
  print('OPEN')
except OSError: print('no')`,
    'prints without end': [`while True: print('x' * 100000)`, 'SANDBOX_RESOURCE_LIMIT'],
    'prints one line without end': [`import sys\nwhile True: sys.stderr.write('x' * 100000)`, 'SANDBOX_RESOURCE_LIMIT'],
    'computes without end': ['while True: pass', 'SANDBOX_TIMEOUT'],
    'stops itself': [`import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)`, 'SANDBOX_TIMEOUT'],
    crashes: `import ctypes, os\nif os.fork(): os.wait(); print('no')\nelse: ctypes.string_at(0)`,
    'takes another name for its exit code': `
import os
for path in ('/proc/1/fd/3', '/proc/1/fd/4'):
  try: os.write(os.open(path, os.O_WRONLY), b'e0e0e0e0')
  except OSError: pass
raise SystemExit(7)`,
    'makes dead children without end': `
import os
n = 0
try:
  while n < 1000:
    if os.fork() == 0: os._exit(0)
    n += 1
  print('OPEN')
except OSError: print('no')`,
    'runs code of another architecture': [
      `
import ctypes, mmap, platform
if platform.machine() != 'x86_64': raise SystemExit(0)
m = mmap.mmap(-1, 4096, prot=7)
m.write(bytes.fromhex('b814000000cd80c3'))  # getpid of the 32-bit table
f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))
print('OPEN' if f() > 0 else 'no')`,
      'result',
    ],
    'uses the other table of system calls': call('0x40000000 + 39'),
  }
  const bash: Table = {
    'runs programs with the rights of others': `for c in 'su -c id' 'sudo -n id' 'mount -t tmpfs x /tmp' 'umount /usr' 'passwd -d root' 'chsh' 'newgrp root'; do
 o=$(timeout 5 $c </dev/null 2>&1) && echo "OPEN $c $o"; done; id -u`,
    'keeps the rights of others in copies': `for f in /usr/bin/{su,mount,passwd,chsh}; do cp "$f" /tmp/x && [ -u /tmp/x ] && echo OPEN; done 2>/dev/null; echo no`,
    'makes a namespace': `unshare -Ur true 2>/dev/null && unshare -Urm mount -t tmpfs x /usr 2>/dev/null && echo OPEN; echo no`,
    'connects with the shell alone': `(exec 5<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo OPEN; (exec 5<>/dev/udp/8.8.8.8/53 && echo x >&5) 2>/dev/null && echo OPEN; echo no`,
    'forks without end': ['f() { f | f & }; f; sleep 2; echo no', 'result', 'SANDBOX_TIMEOUT'],
    'forks without end and without rest': [
      'while :; do (while :; do :; done) & done 2>/dev/null',
      'SANDBOX_TIMEOUT',
      'result',
    ],
    'kills everything': ['kill -9 -1; echo no', 'result', 'SANDBOX_EXECUTION_FAILED'],
    'kills the first process': [
      'kill -9 1; kill -TERM 1; kill -SEGV 1; sleep 0.2; echo no',
      'result',
      'SANDBOX_EXECUTION_FAILED',
    ],
    'stops the first process': ['kill -STOP 1; sleep 0.2; echo no', 'result', 'SANDBOX_TIMEOUT'],
    'does not listen to signals': ['trap "" TERM INT HUP QUIT ALRM; while :; do sleep 1; done', 'SANDBOX_TIMEOUT'],
    'leaves a daemon': 'setsid sleep 4243 >/dev/null 2>&1 </dev/null & disown; (setsid setsid sleep 4243 &) ; echo no',
    'leaves a daemon that holds its outputs': '(trap "" HUP TERM; sleep 4243) & disown; echo no',
    'leaves a daemon that prints': '(while :; do echo x; sleep 0.01; done) & disown; echo no',
    'closes its outputs and goes on': ['exec >&- 2>&- <&-; sleep 4243', 'SANDBOX_TIMEOUT'],
    'floods and does not listen': ['trap "" PIPE TERM; yes; yes', 'SANDBOX_RESOURCE_LIMIT'],
    'sleeps for ever': ['sleep 4243', 'SANDBOX_TIMEOUT'],
    'fills memory with the shell': ['x=x; while :; do x=$x$x; done', 'SANDBOX_RESOURCE_LIMIT', 'result'],
    'installs things': `for c in 'pip3 install x' 'python3 -m pip install x' 'python3 -m ensurepip' 'apt-get install -y sl' 'npm i x' 'go install x@latest' 'curl -sf http://8.8.8.8' 'wget -q -O /dev/null http://8.8.8.8'; do timeout 5 $c >/dev/null 2>&1 && echo "OPEN $c"; done; echo no`,
    'looks for our folders': `for p in / /usr /usr/* /usr/local/* /usr/src/*; do ls -A "$p" 2>/dev/null; done | grep -E '^(\\.git|\\.env.*|metier.*|\\.metier|\\.mcp\\.json|id_rsa)$' | sed 's/^/OPEN /'; echo no`,
    'reads the log of the kernel':
      'dmesg >/dev/null 2>&1 && [ -n "$(dmesg | grep -i linux)" ] && dmesg | grep -qi "command line: .*root=" && echo OPEN; echo no',
    'eats what follows': 'cat >/dev/null\nread x\nexec 0</dev/stdin\necho no',
  }
  const rows = (interpreter: 'python' | 'bash', table: Table) =>
    Object.entries(table).map(([name, row]): Attack => {
      const [script, ...ends] = typeof row === 'string' ? [row, 'result' as const] : row
      const isImitated = name.endsWith('(imitated)')
      const timeoutSeconds = ends.includes('SANDBOX_TIMEOUT') ? 2 : 15
      return { name: `${interpreter}: ${name}`, interpreter, script, ends, timeoutSeconds, isImitated }
    })
  return [...rows('python', python), ...rows('bash', bash)]
}
