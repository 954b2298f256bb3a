/**
 * Real hosts for tests, with a home of their own and a model on loopback that says what the test
 * wrote down.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Stub } from './model-stub.ts'
import type { Scope, Workspace } from './scope.ts'
import { openScreen, type Screen } from './screens.ts'

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'metier', 'services')
const packages = join(cache, 'hosts', 'current', 'node_modules')
const claudeProgram = join(packages, '@anthropic-ai', 'claude-code', 'cli-wrapper.cjs')
const codexProgram = join(packages, '@openai', 'codex', 'bin', 'codex.js')

/** Where tests find the MCP servers that others wrote. */
export const mcpServerPrograms = join(cache, 'mcp-servers', 'current', 'node_modules', '.bin')

/** Why tests with hosts cannot run; false where they can. */
export const hostsMissing = existsSync(claudeProgram) ? false : 'needs hosts: node scripts/services.ts up hosts'

type HostOutput = { code: number | null; stdout: string; stderr: string }

/**
 * One prompt to Claude Code without a screen: it answers every form by closing it. `goesOn`
 * continues the last conversation.
 */
export async function claude(space: Workspace, stub: Stub, prompt: string, goesOn = false): Promise<HostOutput> {
  const args = ['-p', prompt, '--output-format', 'json', '--allowedTools', 'mcp__metier__*']
  return said(start(space, claudeProgram, [...args, ...(goesOn ? ['--continue'] : [])], claudeEnv(stub)))
}

const claudeEnv = ({ url }: Stub) => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: 'stub',
  // On a busy machine it would otherwise speak to its model before our tools are there.
  CLAUDE_CODE_MCP_STARTUP_WAIT_MS: '60000',
  MCP_CONNECTION_NONBLOCKING: '0',
  MCP_CONNECT_TIMEOUT_MS: '60000',
  MCP_TIMEOUT: '60000',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
})

/**
 * Claude Code on a screen, after `metier connect claude-code`; what it asks at its first start is
 * answered beforehand.
 */
export async function claudeScreen(t: Scope, space: Workspace, stub: Stub): Promise<Screen> {
  const file = join(space.folder, '.claude.json')
  const projects = { [space.folder]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } }
  const answered = { hasCompletedOnboarding: true, theme: 'dark', projects }
  const customApiKeyResponses = { approved: ['stub'], rejected: [] }
  const document = { ...JSON.parse(readFileSync(file, 'utf8')), ...answered, customApiKeyResponses }
  writeFileSync(file, JSON.stringify(document))
  const command = [process.execPath, claudeProgram, '--allowedTools', 'mcp__metier__*']
  const screen = await openScreen(t, { command, folder: space.folder, env: { ...baseEnv(space), ...claudeEnv(stub) } })
  await screen.shows(/^❯/m)
  return screen
}

/**
 * Codex on a screen, after `metier connect codex`, with nothing said about which tools it may use
 * without asking.
 */
export async function codexScreen(t: Scope, space: Workspace, stub: Stub): Promise<Screen> {
  chooseModel(space, stub)
  const file = join(space.folder, '.codex', 'config.toml')
  const trusted = `[projects."${space.folder}"]\ntrust_level = "trusted"`
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n\n${trusted}\n`)
  // With settings on its command line it starts no server in the background, which would outlive
  // the screen.
  const command = [process.execPath, codexProgram, ...patience]
  const env = { ...baseEnv(space), STUB_KEY: 'stub' }
  const screen = await openScreen(t, { command, folder: space.folder, env })
  await screen.shows(/Ask Codex to do anything/)
  return screen
}

/** One prompt to Codex without a screen. */
export async function codex(space: Workspace, stub: Stub, prompt: string): Promise<HostOutput> {
  chooseModel(space, stub)
  return said(start(space, codexProgram, ['exec', '--skip-git-repo-check', ...settings, prompt], { STUB_KEY: 'stub' }))
}

/**
 * Codex otherwise speaks to its model before its servers have started, and asks about every tool
 * that may do harm: that is our part.
 */
const patience = ['-c', 'mcp_servers.metier.required=true', '-c', 'mcp_servers.metier.startup_timeout_sec=60']
const settings = [...patience, ...['-c', 'mcp_servers.metier.default_tools_approval_mode="approve"']]

type Form = { serverName: string; message: string }
type Reply = { action: 'accept' | 'decline' | 'cancel'; content: object | null }

/**
 * One prompt to Codex as editors embed it, with a human who answers its forms; resolves when the
 * turn is over.
 */
export async function codexWithHuman(
  t: Scope,
  space: Workspace,
  stub: Stub,
  prompt: string,
  human: (form: Form) => Reply | Promise<Reply>,
): Promise<void> {
  chooseModel(space, stub)
  const child = start(space, codexProgram, ['app-server', ...settings], { STUB_KEY: 'stub' })
  t.after(() => child.kill('SIGKILL'))
  let last = 0
  const waiting = new Map<number, (result: { thread: { id: string } }) => void>()
  const over = Promise.withResolvers<void>()
  const send = (message: object) => void child.stdin!.write(`${JSON.stringify(message)}\n`)
  const request = (method: string, params: object): Promise<{ thread: { id: string } }> => {
    const { promise, resolve } = Promise.withResolvers<{ thread: { id: string } }>()
    waiting.set(++last, resolve)
    send({ id: last, method, params })
    return promise
  }
  createInterface({ input: child.stdout! }).on('line', async (line) => {
    const message = JSON.parse(line)
    if (message.method === 'mcpServer/elicitation/request')
      send({ id: message.id, result: await human(message.params) })
    else if (message.method === 'turn/completed') over.resolve()
    else if (message.error !== undefined) over.reject(new Error(line))
    else waiting.get(message.id)?.(message.result)
  })
  child.once('exit', () => over.reject(new Error('Codex ended before its turn was over')))
  await request('initialize', { clientInfo: { name: 'test', version: '1' } })
  send({ method: 'initialized' })
  const { thread } = await request('thread/start', { cwd: space.folder, approvalPolicy: 'on-request' })
  void request('turn/start', { threadId: thread.id, input: [{ type: 'text', text: prompt }] })
  await over.promise
  child.removeAllListeners('exit')
  child.stdin!.end()
}

/** What Codex reads beside what `metier connect` wrote. */
function chooseModel({ folder }: Workspace, { url }: Stub): void {
  const file = join(folder, '.codex', 'config.toml')
  const written = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (written.includes('model_provider')) return
  mkdirSync(join(folder, '.codex'), { recursive: true })
  const provider = `[model_providers.stub]\nname = "stub"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "STUB_KEY"`
  writeFileSync(file, `model = "stub"\nmodel_provider = "stub"\n\n${provider}\n\n${written}`)
}

function start(space: Workspace, program: string, args: string[], env: Record<string, string>): ChildProcess {
  const all = { ...baseEnv(space), NO_COLOR: '1', ...env }
  return spawn(process.execPath, [program, ...args], { cwd: space.folder, env: all, stdio: 'pipe' })
}

const baseEnv = ({ folder }: Workspace) => ({ PATH: process.env.PATH!, HOME: folder })

async function said(child: ChildProcess): Promise<HostOutput> {
  let stdout = ''
  let stderr = ''
  child.stdout!.on('data', (chunk) => (stdout += chunk))
  child.stderr!.on('data', (chunk) => (stderr += chunk))
  child.stdin!.end()
  await once(child, 'close')
  return { code: child.exitCode, stdout, stderr }
}
