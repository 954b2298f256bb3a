/**
 * What tests share: a workspace of their own, Métier driven from outside through its command line,
 * and a witness of effects.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseConfig } from '#model'
import { openStore, type Store } from '#record'
import { openVerbs, type Verbs } from '#verbs'
import { auditAtEnd } from './audited.ts'
import type { Scope, Workspace } from './scope.ts'
import { temporaryFolder } from './temporary-folder.ts'

export const root = fileURLToPath(new URL('.', import.meta.resolve('#package')))
export const binary = join(root, 'bin', 'metier')

export type Effect = { tool: string; args: Record<string, unknown>; phase: 'begun' | 'done'; pid: number }

/**
 * A configuration with the effects server, whose every effect is written into the witness file by
 * the server itself.
 */
export function workspace(
  t: Scope,
  { env = {}, config = {} }: { env?: Record<string, string>; config?: object } = {},
): Workspace {
  const opened: Verbs[] = []
  const folder = temporaryFolder(t, async () => {
    for (const verbs of opened) await verbs.close()
  })
  const witness = join(folder, 'effects.jsonl')
  const file = join(folder, 'metier.json')
  const fx = {
    command: process.execPath,
    args: [join(root, 'test', 'servers', 'effects.ts')],
    env: { EFFECTS: witness, ...env },
    effects: { pay: 'keyed:idempotency_key' },
  }
  const policy = { permissions: 'standard', rules: [{ tool: 'fx:*', then: 'allow' }] }
  writeFileSync(file, JSON.stringify({ mcpServers: { fx }, policy, ...config }))
  return { folder, witness, file, home: join(folder, 'home'), opened }
}

/** The verbs, and the store below them: tests look where nothing else may. */
export type TestVerbs = Verbs & { store: Store }

/** Métier in this process, closed before the workspace goes. */
export async function openSpace(space: Workspace, log?: (line: string) => void): Promise<TestVerbs> {
  const text = readFileSync(space.file, 'utf8')
  const config = parseConfig({ file: space.file, text, home: space.home, env: process.env, directory: space.folder })
  const store = await openStore({ home: config.home })
  const verbs = await openVerbs(config, { path: process.env.PATH!, ...(log && { log }) }, store)
  space.opened.push(verbs)
  return { ...verbs, store }
}

/** The caller of a test, and waits to the end. */
export const caller = { actor: { kind: 'cli' as const, name: 'test' }, waitMs: null }

export function effects({ witness }: Workspace): Effect[] {
  if (!existsSync(witness)) return []
  return readFileSync(witness, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

export function done(space: Workspace, tool: string): Effect[] {
  return effects(space).filter((effect) => effect.tool === tool && effect.phase === 'done')
}

// biome-ignore lint/suspicious/noExplicitAny: what a command prints is looked into by assertions, member by member.
export type Printed = any
export type Ran = { code: number | null; killed: boolean; stdout: string; stderr: string; json: Printed }
export type RunOptions = {
  input?: string | Uint8Array
  killWhen?: () => boolean
  signal?: NodeJS.Signals
  env?: Record<string, string>
}

function start(space: Workspace, args: string[], env: Record<string, string> = {}): ChildProcess {
  const base = {
    PATH: process.env.PATH!,
    HOME: space.folder,
    METIER_HOME: space.home,
    METIER_CONFIG: space.file,
    NO_COLOR: '1',
  }
  return spawn(binary, args, { cwd: space.folder, env: { ...base, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
}

/**
 * Runs one command to its end; `killWhen` is asked every two milliseconds whether it is time for a
 * SIGKILL, or for another `signal`.
 */
export async function metier(space: Workspace, args: string[], options: RunOptions = {}): Promise<Ran> {
  const child = start(space, args, options.env)
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout!.on('data', (chunk) => out.push(chunk))
  child.stderr!.on('data', (chunk) => err.push(chunk))
  child.stdin!.on('error', () => {})
  child.stdin!.end(options.input ?? '')
  let killed = false
  const watch = setInterval(() => {
    if (options.killWhen?.() !== true) return
    clearInterval(watch)
    killed = child.kill(options.signal ?? 'SIGKILL')
  }, 2)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearInterval(watch)
  const stdout = Buffer.concat(out).toString()
  return { code, killed, stdout, stderr: Buffer.concat(err).toString(), json: parsed(stdout) }
}

function parsed(text: string): Printed {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export type Project = Workspace & { project: string }

/**
 * A folder for the agent, beside the home; `answers` are those of the model. Whatever sessions a
 * test leaves there are audited at its end.
 */
export function agentProject(t: Scope, answers: unknown[], config: object = {}): Project {
  let project = ''
  auditAtEnd(t, () => project)
  const space = workspace(t, { config: { mcpServers: {}, ...config } })
  project = join(space.folder, 'project')
  mkdirSync(project)
  writeFileSync(join(space.folder, 'answers.json'), JSON.stringify(answers))
  return { ...space, project }
}

export const agentWords = (space: Project, goal: string, ...more: string[]) => [
  'agent',
  goal,
  '--model',
  `scripted:${join(space.folder, 'answers.json')}`,
  '--workspace',
  space.project,
  ...more,
]

export function runAgent(space: Project, goal: string, ...more: string[]) {
  return metier(space, agentWords(space, goal, '--json', ...more))
}

export type Served = {
  url: string
  child: ChildProcess
  stderr(): string
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Starts the gateway, on a free port if none is chosen, and waits until it answers. */
export async function serve(
  t: Scope,
  space: Workspace,
  args: string[] = [],
  { port: chosen, env }: { port?: number; env?: Record<string, string> } = {},
): Promise<Served> {
  const port = chosen ?? (await freePort())
  const url = `http://127.0.0.1:${port}`
  const child = start(space, ['serve', '--port', String(port), ...args], env)
  const err: Buffer[] = []
  child.stderr!.on('data', (chunk) => err.push(chunk))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal)
    return ended
  }
  t.after(() => stop('SIGKILL'))
  for (let i = 0; i < 600 && child.exitCode === null; i++) {
    if (
      await fetch(`${url}/healthz`).then(
        (response) => response.ok,
        () => false,
      )
    )
      break
    await pause(50)
  }
  return { url, child, stop, stderr: () => Buffer.concat(err).toString() }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Numbers in [0,1) from a seed, so that a failing round can be played again. */
export function dice(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return ((state ^ (state >>> 15)) >>> 0) / 2 ** 32
  }
}
export { assertNoticed, auditAtEnd, placesOf } from './audited.ts'
export * from './browser.ts'
export { schemaOf, teach } from './capabilities.ts'
export { type Death, deadlyStore } from './fault/deadly-store.ts'
export * from './hosts.ts'
export * from './model-stub.ts'
export { filled, type OfficeHabit, officeHabits, type Values } from './office-habits.ts'
export * from './provider-stub.ts'
export * from './rebound-answers.ts'
export * from './sample-record.ts'
export type { Scope, Workspace } from './scope.ts'
export * from './screens.ts'
export * from './script-machine.ts'
export type { Authorization } from './servers/authorization.ts'
export { auditSession } from './session-auditor.ts'
export { type SmallProgram, smallProgram } from './small-programs.ts'
export { temporaryFolder } from './temporary-folder.ts'
