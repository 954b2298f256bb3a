/**
 * What a server in a box sees of this machine: the system, the programs that it runs on, its
 * folders, and nothing else.
 */
import { closeSync, existsSync, lstatSync, openSync, readlinkSync, readSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { AppError, limits, type ServerSandbox } from '#model'
import { inPath } from '#sandbox/host'

type ViewOptions = {
  server: string
  command: string
  args: readonly string[]
  cwd: string
  path: string
  sandbox: ServerSandbox
  /** Ours, whatever folder they stand in: shown empty. */
  hidden: readonly string[]
  /** A file with nothing in it. */
  empty: string
}

/**
 * The arguments of bubblewrap that show it. Of two that overlap the later one counts, so the
 * narrower come later.
 */
export function viewOf(options: ViewOptions): string[] {
  const { server, command, path, sandbox, hidden, empty } = options
  const { folders, write } = sandbox
  for (const folder of [...folders, ...write]) refuseBad(server, folder)
  const script = scriptOf(options)
  const own = [programOf(server, command, path), ...(script === null ? [] : [script])]
  const programs = new Set(own.flatMap((program) => runtimeOf(program, path)))
  const shown = [
    ...[...programs].map((from) => ({ from, flag: '--ro-bind' })),
    ...folders.map((from) => ({ from, flag: '--ro-bind' })),
    ...write.map((from) => ({ from, flag: '--bind' })),
  ].sort((left, right) => left.from.split(sep).length - right.from.split(sep).length)
  return [
    ...shown.flatMap(({ from, flag }) => [flag, realpathSync(from), from]),
    ...shown
      .filter(({ from }) => realpathSync(from) !== from)
      .flatMap(({ from, flag }) => [flag, realpathSync(from), realpathSync(from)]),
    ...hidden.flatMap((path) => blank(path, [...folders, ...write], empty)),
  ]
}

/**
 * `/usr`, what leads there, and of `/etc` what programs need to start, speak TLS and know the time.
 */
export function systemFolders(): string[] {
  const tops = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']
  const etc = ['ld.so.cache', 'alternatives', 'ssl/certs', 'ssl/openssl.cnf', 'pki/tls/certs', 'localtime', 'timezone']
  return [
    ...['--ro-bind', '/usr', '/usr'],
    ...privateFolders().flatMap((folder) => ['--size', '65536', '--tmpfs', folder]),
    ...tops.flatMap((top) => {
      const entry = lstatSync(top, { throwIfNoEntry: false })
      if (entry === undefined) return []
      return entry.isSymbolicLink() ? ['--symlink', readlinkSync(top), top] : ['--ro-bind', top, top]
    }),
    ...etc.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
  ]
}

/**
 * Homes and projects that stand in `/usr`, as they do in many containers: of these only what is
 * named is shown.
 */
export function privateFolders(): string[] {
  const usual = ['/usr/src', '/usr/home', homedir(), process.cwd()]
  const inside = [...new Set(usual)].filter((folder) => folder.startsWith('/usr/') && existsSync(folder))
  return inside.filter((folder) => !inside.some((other) => folder.startsWith(`${other}/`)))
}

/** What is not there cannot be shown; what holds the kernel's own files must not be. */
function refuseBad(server: string, folder: string): void {
  const real = existsSync(folder) ? realpathSync(folder) : null
  if (real !== null && !/^\/(?:(?:proc|sys|dev)(?:\/|$)|$)/.test(real)) return
  const why = real === null ? `there is no "${folder}"` : `"${folder}" would show it the kernel's own files`
  const message = `Cannot start the server "${server}" in its box: ${why}, which its "sandbox" names`
  throw new AppError('SANDBOX_SETUP_FAILED', message, { server, folder })
}

/** Where the command is; bubblewrap would look for it inside. */
export function programOf(server: string, command: string, path: string): string {
  const found = command.includes('/') ? [command] : inPath(command, path)
  const program = found.find((file) => isAbsolute(file) && statSync(file, { throwIfNoEntry: false })?.isFile())
  if (program !== undefined) return program
  throw new AppError('UPSTREAM_UNREACHABLE', `Cannot reach the server "${server}": "${command}" was not found`, {
    server,
  })
}

/** The file that an interpreter is told to run: the first of its words that is no option. */
function scriptOf({ command, args, cwd }: ViewOptions): string | null {
  if (!/^(?:node|bun|deno|tsx|python[\d.]*|ruby|perl|php|sh|bash)$/.test(basename(command))) return null
  const word = args.find((arg) => !arg.startsWith('-'))
  const file = word === undefined ? null : resolve(cwd, word)
  return file !== null && statSync(file, { throwIfNoEntry: false })?.isFile() ? file : null
}

/**
 * What must be readable for a program to run, where it is not part of the system: itself, beside
 * `bin` its `lib`, the modules it is one of, and the same of the interpreter that its first line
 * names.
 */
function runtimeOf(program: string, path: string): string[] {
  const found = new Set<string>()
  let next: string | null = program
  for (let count = 0; next !== null && count < limits.interpretersMax; count++) {
    for (const file of [next, realpathSync(next)]) for (const part of partsOf(file)) found.add(part)
    next = interpreterOf(next, path)
  }
  return [...found].filter((file) => existsSync(file))
}

function partsOf(file: string): string[] {
  const isPrivate = privateFolders().some((folder) => file.startsWith(`${folder}/`))
  if (!isPrivate && /^\/(?:usr|bin|sbin|lib\w*)\//.test(file)) return []
  const modules = file.indexOf('/node_modules/')
  if (modules >= 0) return [file.slice(0, modules + '/node_modules'.length)]
  const folder = dirname(file)
  return folder.endsWith('/bin') ? [folder, join(dirname(folder), 'lib')] : [file]
}

function interpreterOf(file: string, path: string): string | null {
  const start = Buffer.alloc(256)
  const descriptor = openSync(file, 'r')
  const length = readSync(descriptor, start)
  closeSync(descriptor)
  const [, program, argument] =
    /^#!\s*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?/.exec(start.toString('latin1', 0, length)) ?? []
  if (program === undefined) return null
  const name = /\/env$/.test(program) ? argument : program
  if (name === undefined) return null
  return (isAbsolute(name) ? [name] : inPath(name, path)).find((one) => existsSync(one)) ?? null
}

/**
 * A folder becomes an empty one and a file an empty one, where a folder that is shown holds them.
 */
function blank(path: string, folders: readonly string[], empty: string): string[] {
  const real = existsSync(path) ? realpathSync(path) : path
  const places = [...new Set([path, real])].filter((place) => folders.some((folder) => isWithin(place, folder)))
  const entry = statSync(path, { throwIfNoEntry: false })
  if (entry === undefined) return []
  return places.flatMap((place) =>
    entry.isDirectory() ? ['--size', '4096', '--tmpfs', place, '--remount-ro', place] : ['--ro-bind', empty, place],
  )
}

function isWithin(path: string, folder: string): boolean {
  const places = [folder, realpathSync(folder)]
  return places.some((place) => path === place || path.startsWith(place.endsWith(sep) ? place : `${place}${sep}`))
}
