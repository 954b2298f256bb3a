/** The languages of scripts: their names, and what the first process of a box does for each. */
import { AppError, limits } from '#model'
import { handOut } from '#sandbox/script-box'

export const interpreters = ['python', 'bash', 'go'] as const
export type Interpreter = (typeof interpreters)[number]

/** As the specification names them; `go` is accepted for `go run`. */
const names: Record<string, Interpreter> = { python: 'python', bash: 'bash', 'go run': 'go', go: 'go' }
const allowed = ['python', 'bash', 'go run']

export function parseInterpreter(name: unknown): Interpreter {
  if (typeof name !== 'string' || name.trim() === '') {
    const details = 'must be the name of an interpreter'
    const context = { param: 'interpreter', details, value: name, allowed_values: allowed }
    throw new AppError('INVALID_INPUT_PARAM', `Cannot run the script: interpreter ${details}`, context)
  }
  if (Object.hasOwn(names, name)) return names[name]!
  const message = `Cannot run the script with "${name}": use one of ${allowed.join(', ')}`
  throw new AppError('SANDBOX_INVALID_INTERPRETER', message, { interpreter: name, allowed_values: allowed })
}

/**
 * Each waits for the end of its input with everything else done, and leaves nothing on it for the
 * script to read.
 */
const starts: Record<Interpreter, string> = {
  python: 'exec python3 -',
  // Read to its end first: a command of the script that reads its input would eat the lines that
  // follow it. By the shell itself, since every process more is milliseconds in gVisor, and by
  // number, since otherwise it would read byte by byte.
  bash: `exec bash -c 'IFS= read -rN ${limits.scriptBytesMax} s; exec </dev/null; eval "unset -v s;$s"'`,
  // Built, then run: "go run" would hide the exit code.
  go: 'cat >/tmp/main.go; exec </dev/null; "$GOROOT/bin/go" build -o /tmp/main /tmp/main.go && exec /tmp/main',
}

/** By its name, as a person would; the end of the input says that it may begin. */
const file = 'cat >/dev/null; exec </dev/null; exec python3 "$BOX_SCRIPT"'

/** Listens where programs look for a proxy, and carries each connection to our own socket. */
const forwarder = `
import os, socket, threading
proxy = socket.create_server(("127.0.0.1", 3128), backlog=64)
if os.fork(): os._exit(0)
def carry(source, target):
    try:
        while (data := source.recv(65536)): target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError: pass
while True:
    inner, _ = proxy.accept()
    try:
        outer = socket.socket(socket.AF_UNIX)
        outer.connect("/box/outbound/proxy")
        for pair in ((inner, outer), (outer, inner)): threading.Thread(target=carry, args=pair, daemon=True).start()
    except (OSError, RuntimeError): inner.close()
`

type LaunchOptions = {
  interpreter: Interpreter
  outbound: boolean
  /** Whether files are handed out at the end. */
  outputs: boolean
  /** Whether the first process must bound the number of tasks, because the box cannot. */
  limitsTasks: boolean
  /** Whether the script is a file of the folder it works in. */
  isFile?: boolean
}

/**
 * The first process of a box. It stays, so that signals work as elsewhere, what the script leaves
 * running is reaped, and the exit code is not reported by the script itself.
 */
export function launcher({ interpreter, outbound, outputs, limitsTasks, isFile }: LaunchOptions): string {
  return [
    'exec 4>&2 2>/dev/null',
    ...(limitsTasks ? [`ulimit -p ${limits.scriptTasksMax} || ulimit -u ${limits.scriptTasksMax} || exit 1`] : []),
    ...(outbound ? [`python3 -c '${forwarder}' </dev/null >/dev/null 3>&- 4>&- || exit 1`] : []),
    'echo r >&3',
    `(${isFile ? file : starts[interpreter]}) 2>&4 3>&- 4>&-`,
    // On a line of its own, whatever stands before it.
    'printf "\\ne%d\\n" $? >&3',
    ...(outputs ? [handOut] : []),
  ].join('\n')
}

/** The first process of the box in which Go's standard library is compiled ahead of all scripts. */
export const primer = 'echo r >&3; cat; "$GOROOT/bin/go" build std; echo "e$?" >&3'
