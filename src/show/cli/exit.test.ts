/**
 * Exit codes seen from outside, where servers leave helpers behind, never start, or die: no command
 * ends before it has said what it has to say.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { limits } from '#model'
import { binary, metier, type Ran, root, type Workspace, workspace } from '#test'

const effectsServer = `"${process.execPath}" "${join(root, 'test', 'servers', 'effects.ts')}"`

/**
 * The server itself ends when it is asked to; what it started stays in its process group, and keeps
 * its pipes open.
 */
const leavesChild = { command: 'sh', args: ['-c', `sleep 20 & exec ${effectsServer}`] }
/**
 * As a package runner that hangs: it ends by SIGTERM, and the shell that it started stays behind.
 */
const hanging = { command: 'sh', args: ['-c', 'sleep 100 & wait'] }

function spaceWith(t: TestContext, server: object): Workspace {
  const policy = { permissions: 'standard', rules: [{ tool: 'fx:*', then: 'allow' }] }
  return workspace(t, { config: { mcpServers: { fx: server }, policy, http: { port: 0 } } })
}

/**
 * What the words of a usage line stand for; a command that is not here gets its placeholders as
 * they are.
 */
const lines: Record<string, { words: string[]; code?: number; input?: string }> = {
  // Every other command reads the same configuration meanwhile, so these two only print.
  add: { words: ['other', '--print', '--', 'true'], code: 0 },
  remove: { words: ['fx', '--print'], code: 0 },
  discover: { words: ['read a value'], code: 0 },
  execute: { words: ['--code', '-'], input: 'return (await mcp.fx.read({ key: "a" })).key', code: 0 },
  call: { words: ['fx:read', '{"key":"a"}'], code: 0 },
  tools: { words: ['fx'], code: 0 },
  servers: { words: [], code: 0 },
  doctor: { words: [] },
  accept: { words: ['fx:add'], code: 0 },
  'policy explain': { words: ['fx:add'], code: 0 },
  runs: { words: [], code: 0 },
  help: { words: [], code: 0 },
  version: { words: [], code: 0 },
  policy: { words: [], code: 0 },
  approvals: { words: [], code: 0 },
  'audit verify': { words: [], code: 0 },
  artifacts: { words: [], code: 0 },
  'artifact put': { words: ['-'], input: 'text' },
  'sandbox run': { words: ['--language', 'bash', '-'], input: 'echo' },
}

/** Wait until they are stopped. */
const waiting = new Set(['serve', 'approvals watch', 'servers login'])
/** The demo has servers of its own and a test of its own; these two prepare what others use. */
const elsewhere = new Set(['demo', 'sandbox build', 'sandbox test'])

/** The exit codes that scripts rely on, and no others. */
const promised = [0, 1, 2, 3, 4, 5, 6, 7, 8, 124, 130]

async function commandsOf(
  space: Workspace,
): Promise<{ name: string; words: string[]; code?: number; input?: string }[]> {
  const { json } = await metier(space, ['help', '--json'])
  return (json as { usage: string }[]).map(({ usage }) => {
    const name = /^[a-z]+(?: [a-z]+)*/.exec(usage)![0]
    const placeholders =
      usage
        .slice(name.length)
        .replace(/\[[^\]]*\]/g, '')
        .match(/[A-Z]{2,}/g) ?? []
    return { name, ...(lines[name] ?? { words: placeholders }) }
  })
}

type Ended = Pick<Ran, 'code'> & { output: string }

async function ended(space: Workspace, words: string[], how: { input?: string }): Promise<Ended> {
  const { code, stdout, stderr } = await metier(space, words, how)
  return { code, output: stdout + stderr }
}

/** Stopped by a signal as soon as it says something, since it would wait for ever. */
async function stopped(space: Workspace, words: string[]): Promise<Ended> {
  const env = { PATH: process.env.PATH!, HOME: space.folder, METIER_HOME: space.home, METIER_CONFIG: space.file }
  const child = spawn(binary, words, { env, cwd: space.folder, stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    if (stderr === '') child.kill('SIGTERM')
    stderr += text
  })
  const [code] = await once(child, 'close')
  return { code, output: stderr }
}

async function inTurn<Item>(items: readonly Item[], most: number, work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items]
  await Promise.all(
    Array.from({ length: most }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
    }),
  )
}

test('every command ends with a promised exit code where a server leaves a helper in its process group', async (t) => {
  const space = spaceWith(t, leavesChild)
  const commands = (await commandsOf(space)).filter(({ name }) => !elsewhere.has(name))
  assert(commands.length > 30, 'the help lists them')
  const wrong: string[] = []
  await inTurn(commands, 3, async ({ name, words, code: expected, input }) => {
    const args = [...name.split(' '), ...words]
    const { code, output } = waiting.has(name)
      ? await stopped(space, args)
      : await ended(space, args, input === undefined ? {} : { input })
    const isFine = expected === undefined ? promised.includes(code!) : code === expected
    if (!isFine || output.includes('unsettled')) wrong.push(`${args.join(' ')} ended with ${code}: ${output}`)
  })
  assert.deepEqual(wrong, [])
  assert.deepEqual(Object.keys(JSON.parse(readFileSync(space.file, 'utf8')).mcpServers), ['fx'])
})

test('every command that needs a server which hangs at its start says so, and exits with 4', async (t) => {
  const space = spaceWith(t, hanging)
  const late = new RegExp(`Cannot reach the server "fx": it did not open within ${limits.upstreamFirstStartMsMax} ms`)
  const asking = [
    ['tools', 'fx'],
    ['servers'],
    ['call', 'fx:read', '{"key":"a"}'],
    ['accept', 'fx:add'],
    ['policy', 'explain', 'fx:add'],
  ]
  const asked = asking.map(async (words) => {
    const { code, stdout, stderr } = await metier(space, words)
    assert.equal(code, 4, `${words.join(' ')}: ${stdout}${stderr}`)
    assert.match(stdout + stderr, late, words.join(' '))
  })
  const examined = metier(space, ['doctor']).then(({ code, stdout, stderr }) => {
    assert.equal(code, 1, stdout + stderr)
    assert.match(stdout, late)
  })
  await Promise.all([...asked, examined])
})
