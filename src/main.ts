/**
 * argv and environment become one frozen configuration and one command; nothing else reads the
 * environment.
 */
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { AppError, awsFiles, type Config, parseConfig } from '#model'
import about from '#package' with { type: 'json' }
import {
  type Context,
  checkHome,
  checkOpenFiles,
  exit,
  exitSoon,
  exportSpans,
  openTerminal,
  type Parsed,
  readCommand,
  readTelemetry,
  runCommand,
  showError,
  stopOnSignals,
  UsageError,
  untilSettled,
} from '#show'
import type { OpenHome, RecordVerbs, Verbs } from '#verbs'

const { env, argv } = process
const stop = new AbortController()

let json = argv.includes('--json')
const print = (text: string) => void process.stdout.write(`${text}\n`)
const note = (text: string) => void process.stderr.write(`${text}\n`)
stopOnSignals(stop, note)
const isHosted = argv.includes('--stdio')
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A host that is gone leaves runs behind: they are let go of in order.
  if (isHosted) stop.abort('EPIPE')
  else process.exit(error.code === 'EPIPE' ? 0 : 1)
})
// A closed stderr is no reason to end the command: without a listener, the error would.
process.stderr.on('error', () => {})

exitSoon(await main(argv.slice(2)))

async function main(words: string[]): Promise<number> {
  try {
    const parsed = await readCommand(words)
    json = parsed.options.json === true
    return await untilSettled(perform(parsed))
  } catch (error) {
    return showError(error, json, print, note)
  }
}

async function perform(parsed: Parsed): Promise<number> {
  let home: Promise<OpenHome> | undefined
  let reading: Promise<RecordVerbs> | undefined
  let opened: Promise<Verbs> | undefined
  const { config, fault } = configFor(parsed)
  if (!parsed.command.unconfigured) checkHome(config.home)
  const openOnce = async () => {
    checkOpenFiles()
    const { openHome } = await import('#verbs')
    return openHome(config, surroundings)
  }
  const atHome = () => (home ??= openOnce())
  const record = () => (reading ??= atHome().then((opened) => opened.record()))
  const open = async () => {
    await record()
    return (await atHome()).verbs()
  }
  const log = parsed.options.quiet === true ? () => {} : note
  const telemetry = readTelemetry(env)
  const spans = telemetry === null ? null : exportSpans(telemetry, note)
  const surroundings = {
    ...(env.PATH === undefined ? {} : { path: env.PATH }),
    home: homedir(),
    homeOption: homeOptionFor(config),
    log,
    sessions: async () => (await import('#agent')).sessionKit,
    ...(spans === null ? {} : { settled: spans.settled }),
  }
  const context: Context = {
    config,
    configFault: fault,
    options: parsed.options,
    words: parsed.words,
    json,
    isTerminal: process.stdout.isTTY === true,
    caller: { actor: { kind: 'cli', name: userInfo().username }, waitMs: null },
    version: about.version,
    surroundings,
    hostFolders: {
      ...(env.CLAUDE_CONFIG_DIR ? { claude: resolve(env.CLAUDE_CONFIG_DIR) } : {}),
      ...(env.CODEX_HOME ? { codex: resolve(env.CODEX_HOME) } : {}),
    },
    print,
    note: log,
    write: (chunk) =>
      new Promise((done, fail) => process.stdout.write(chunk, (error) => (error ? fail(error) : done()))),
    stdin: async () => (await readStdin()).toString('utf8'),
    stdinBytes: readStdin,
    readFile: readText,
    readConfig: () => readConfig(parsed.options, false),
    record,
    verbs: () => (opened ??= open()),
    terminal: json || parsed.options.quiet === true ? null : openTerminal(process.stdin, process.stderr),
    signal: stop.signal,
  }
  stop.signal.addEventListener('abort', () => void opened?.then((verbs) => verbs.releaseRuns()), { once: true })
  try {
    const working = runCommand(parsed, context)
    return await (parsed.command.looks ? Promise.race([working, interruption()]) : working)
  } finally {
    await spans?.sent()
    await closed(opened)
    await closed(reading)
  }
}

/**
 * A failure to close is told beside the outcome of the command, and never in its place: that one
 * names the run.
 */
async function closed(opened: Promise<RecordVerbs> | undefined): Promise<void> {
  // Verbs that could not be opened were reported where they were opened.
  const verbs = await opened?.catch(() => undefined)
  await verbs?.close().catch((error: Error) => note(`Cannot close the record in order: ${error.message}`))
}

/** A key at the terminal ends at once what only looks; what it had opened is closed behind it. */
function interruption(): Promise<number> {
  return new Promise((resolve) => {
    if (stop.signal.aborted) resolve(exit.interrupted)
    stop.signal.addEventListener('abort', () => resolve(exit.interrupted), { once: true })
  })
}

type Found = { config: Config; fault: AppError | null }

/** A command that diagnoses reports a broken configuration and goes on without it. */
function configFor({ options, command }: Parsed): Found {
  try {
    return { config: readConfig(options, command.unconfigured === true), fault: null }
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFIG_INVALID' || !command.diagnoses) throw error
    return { config: readConfig(options, true), fault: error }
  }
}

function readConfig({ config: named, home }: Parsed['options'], unconfigured: boolean): Config {
  const asked = typeof named === 'string' ? named : env.METIER_CONFIG || undefined
  const file = asked === undefined ? nearestConfig(process.cwd()) : resolve(asked)
  if (asked !== undefined && !unconfigured && !existsSync(file!)) {
    throw new AppError('CONFIG_INVALID', `Cannot read the configuration: there is no file ${file}`, { file })
  }
  const text = file === null || unconfigured ? null : configText(file)
  const directory = file === null ? process.cwd() : dirname(file)
  const awsTexts = awsFiles({ ...env, HOME: homedir() }).flatMap(textIfReadable)
  return parseConfig({ file, text, home: homeFolder(home, file), env, directory, awsTexts })
}

/** A file that we cannot read has nothing that could leak through us. */
function textIfReadable(file: string): string[] {
  try {
    return [readFileSync(file, 'utf8')]
  } catch {
    return []
  }
}

/**
 * What the same command without options, in this folder, would have to be told to work with this
 * configuration and home.
 */
function homeOptionFor({ file, home }: Config): string {
  const plain = env.METIER_CONFIG ? resolve(env.METIER_CONFIG) : nearestConfig(process.cwd())
  const isNamed = file !== null && file !== plain
  const options = [
    ...(isNamed ? ['--config', file] : []),
    ...(home === homeFolder(undefined, isNamed ? file : plain) ? [] : ['--home', home]),
  ]
  return options
    .map((word) => ` ${/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`}`)
    .join('')
}

function configText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const message = `Cannot read the configuration "${file}": ${(error as Error).message}. Make it a file that you can read`
    throw new AppError('CONFIG_INVALID', message, { file }, error)
  }
}

function nearestConfig(from: string): string | null {
  for (let folder = from; ; folder = dirname(folder)) {
    for (const name of ['metier.json', '.mcp.json']) if (existsSync(join(folder, name))) return join(folder, name)
    if (dirname(folder) === folder) return null
  }
}

function homeFolder(option: unknown, file: string | null): string {
  if (typeof option === 'string') return resolve(option)
  if (env.METIER_HOME) return resolve(env.METIER_HOME)
  if (file !== null) return join(dirname(file), '.metier')
  return join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'metier')
}

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const details =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no such file' : (error as Error).message
    throw new UsageError(`Cannot read ${path}: ${details}`)
  }
}
