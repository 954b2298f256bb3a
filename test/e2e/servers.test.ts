/**
 * Twelve MCP servers that others wrote, all at once: found, called, killed and called again, and
 * none left when we are killed.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '#model'
import { caller, openSpace, serve, type Workspace, workspace } from '#test'
import type { Verbs } from '#verbs'

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'metier', 'services')
const programs = join(cache, 'mcp-servers', 'current', 'node_modules', '.bin')
const skip = existsSync(programs) ? false : 'needs mcp-servers: node scripts/services.ts up mcp-servers'

/**
 * How each is started in a folder, and a call that it answers without a network, if only with an
 * error.
 */
const servers: Record<string, { program: string; args?: (folder: string) => string[]; tool: string; input: object }> = {
  chrome: {
    program: 'chrome-devtools-mcp',
    args: () => ['--no-usage-statistics', '--executable-path', '/nowhere'],
    tool: 'list_pages',
    input: {},
  },
  commands: { program: 'mcp-server-commands', tool: 'run_command', input: { command: 'echo hello' } },
  database: {
    program: 'dbhub',
    args: (folder) => ['--transport', 'stdio', '--dsn', `sqlite://${folder}/tables.db`],
    tool: 'execute_sql',
    input: { sql: 'SELECT 1 AS one' },
  },
  everything: { program: 'mcp-server-everything', tool: 'echo', input: { message: 'hello' } },
  fetch: { program: 'mcp-fetch-server', tool: 'fetch_txt', input: { url: 'http://127.0.0.1:9/' } },
  files: { program: 'mcp-server-filesystem', args: (folder) => [folder], tool: 'list_allowed_directories', input: {} },
  git: { program: 'git-mcp-server', tool: 'git_status', input: { path: '/' } },
  github: { program: 'mcp-server-github', tool: 'search_repositories', input: { query: 'metier' } },
  memory: { program: 'mcp-server-memory', tool: 'read_graph', input: {} },
  playwright: {
    program: 'playwright-mcp',
    args: () => ['--headless', '--isolated', '--executable-path', '/nowhere'],
    tool: 'browser_tabs',
    input: { action: 'list' },
  },
  thinking: {
    program: 'mcp-server-sequential-thinking',
    tool: 'sequentialthinking',
    input: { thought: 'x', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
  },
  time: { program: 'time-mcp', tool: 'days_in_month', input: { date: '2026-11-16' } },
}
const names = Object.keys(servers)

/**
 * Each server bears its name and the test's folder in its environment, which what it starts
 * inherits.
 */
function gathered(t: TestContext): Workspace {
  const space = workspace(t)
  const mcpServers = Object.fromEntries(
    Object.entries(servers).map(([name, { program, args = () => [] }]) => {
      const env = { MARK: `${space.folder} ${name}.`, MEMORY_FILE_PATH: join(space.folder, 'memory.json') }
      return [name, { command: process.execPath, args: [join(programs, program), ...args(space.folder)], env }]
    }),
  )
  writeFileSync(space.file, JSON.stringify({ mcpServers, policy: { permissions: 'privileged' } }))
  return space
}

/** The processes of a server, or of all, wherever they moved. */
function processesOf({ folder }: Workspace, name = ''): number[] {
  const mark = name === '' ? `MARK=${folder} ` : `MARK=${folder} ${name}.`
  const bears = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)
    } catch {
      return false
    }
  }
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && bears(entry))
    .map(Number)
}

async function until(fact: () => boolean, what: string): Promise<void> {
  for (let round = 0; round < 250; round++) {
    if (fact()) return
    await pause(20)
  }
  assert.fail(`it did not come to pass: ${what}`)
}

/** True where the server itself has answered, also if with an error. */
async function answers(verbs: Verbs, name: string): Promise<boolean> {
  const { tool, input } = servers[name]!
  const code = `try { return await tool("${name}:${tool}", args) !== undefined } catch (error) { return error.code }`
  let answer = await verbs.execute({ implementation: { type: 'code', code }, args: input as JsonObject }, caller)
  // A call that was written to a server just before we saw its death is in doubt, as it should be:
  // we know that it is dead.
  if (answer.status === 'uncertain')
    answer = await verbs.settle(String(answer.run), '1', { how: 'again' }, caller, true)
  assert(answer.result === true || answer.result === 'TOOL_ERROR', `${name}: ${JSON.stringify(answer)}`)
  return true
}

test('twelve servers run together, are found and called, and the death of any is survived', { skip }, async (t) => {
  const space = gathered(t)
  const verbs = await openSpace(space)
  let listed = await verbs.tools()
  // Twelve servers may need longer on a busy machine than one look waits; their start goes on.
  for (let look = 0; look < 30 && listed.problems.length > 0; look++) {
    await pause(1000)
    listed = await verbs.tools()
  }
  const { tools, problems } = listed
  assert.deepEqual(problems, [])
  assert(tools.length >= 145, `${tools.length} tools`)
  const finds: Record<string, string> = {
    'read a text file': 'files:read_text_file',
    'run a shell command': 'commands:run_command',
    'take a screenshot': 'chrome:take_screenshot',
    'fetch a page as markdown': 'fetch:fetch_markdown',
    'think step by step': 'thinking:sequentialthinking',
    git_status: 'git:git_status',
  }
  for (const [intent, tool] of Object.entries(finds)) {
    const { results } = await verbs.discover({ intent }, caller)
    assert.equal((results as JsonObject[])[0]?.id, tool, intent)
  }
  assert.equal((await verbs.discover({ intent: 'compose a symphony for violins' }, caller)).status, 'nothing_fits')
  for (const name of names) {
    assert(await answers(verbs, name))
    const pids = processesOf(space, name)
    assert(pids.length > 0, `${name} runs`)
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    await until(() => processesOf(space, name).every((pid) => !pids.includes(pid)), `${name} is gone`)
    assert(await answers(verbs, name), `${name} was started again`)
  }
  await verbs.close()
  assert.deepEqual(processesOf(space), [], 'nothing is left after the end')
})

test('nothing of twelve servers is left after our own SIGKILL', { skip }, async (t) => {
  const space = gathered(t)
  const gateway = await serve(t, space)
  let answer = await fetch(`${gateway.url}/api/tools`)
  // So many that start at once may take longer than a list waits.
  for (let round = 0; round < 100 && answer.headers.has('metier-silent'); round++) {
    await pause(200)
    answer = await fetch(`${gateway.url}/api/tools`)
  }
  const tools = (await answer.json()) as JsonObject[]
  assert(tools.length >= 145, `${tools.length} tools`)
  for (const name of names) assert(processesOf(space, name).length > 0, `${name} runs`)
  const pids = processesOf(space)
  t.after(() => {
    for (const pid of processesOf(space)) if (pids.includes(pid)) process.kill(pid, 'SIGKILL')
  })
  // One that stands still does not notice the end of its input: it has to be ended.
  for (const pid of pids) stand(pid)
  await gateway.stop('SIGKILL')
  await until(() => processesOf(space).length === 0, 'every server is gone')
})

/**
 * Some servers start helpers that live for a moment: one that is gone already was left behind by
 * none.
 */
function stand(pid: number): void {
  try {
    process.kill(pid, 'SIGSTOP')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
