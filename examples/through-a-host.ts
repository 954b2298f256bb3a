/**
 * The whole story through a real host, which checks itself: Claude Code discovers tools, runs a
 * program that calls two servers at once, a human approves its dangerous call, the gateway is
 * killed in the middle, and the run goes on as if nothing had happened.
 *
 *   node scripts/services.ts up hosts mcp-servers     (once: installs them outside the repository)
 *   node examples/through-a-host.ts
 *
 * No key is needed: the model is a stub on loopback that says what stands below. Everything else is
 * real.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  claude,
  freePort,
  hostsMissing,
  mcpServerPrograms,
  metier,
  modelStub,
  type Scope,
  type Step,
  serve,
  type Workspace,
  workspace,
} from '#test'

const program = `
const [listed, month] = await Promise.all([
  mcp.files.list_directory({ path: args.folder }),
  mcp.time.days_in_month({ date: '2026-11-16' }),
])
await mcp.files.move_file({ source: args.folder + '/draft.txt', destination: args.folder + '/sent.txt' })
await sleep(3000)
const { content } = await mcp.files.read_text_file({ path: args.folder + '/sent.txt' })
return { content, listed, month }`

const say = (line: string) => console.log(line)

async function story(scope: Scope): Promise<void> {
  const port = await freePort()
  const space = build(scope, port)
  const letters = join(space.folder, 'letters')
  const implementation = { type: 'code', code: program }
  const plan: Step[] = [
    { tool: 'discover', input: { intent: 'move a file' } },
    { tool: 'execute', input: { intent: 'send the draft', implementation, args: { folder: letters } } },
    { say: 'A human has to approve this.' },
  ]
  let next = (results: string[]): Step => plan[results.length]!
  const stub = await modelStub(scope, (results) => next(results))

  const gateway = await serve(scope, space, [], { port })
  const connected = await metier(space, ['connect', 'claude-code', '--http'])
  assert.equal(connected.code, 0, connected.stderr)
  const first = await claude(space, stub, 'Send the draft.')
  assert.equal(first.code, 0, first.stdout + first.stderr)
  const [found, asked] = stub.results().map((text) => JSON.parse(text))
  assert.equal(found.results[0].id, 'files:move_file')
  say(`1. Claude Code, connected by "metier connect", discovers ${found.results[0].id}: ${found.results[0].why}`)
  assert.equal(asked.status, 'approval_required', JSON.stringify(asked))
  const { run, approvals } = asked
  const { events } = await record(space, run)
  const order = events.filter(({ body }) => body.call === '1' || body.call === '2').map(({ type }) => type)
  assert.ok(order.indexOf('call.resolved') > order.lastIndexOf('call.sent'), 'both were asked before either answered')
  say('2. Its program calls two servers at once; the third call is dangerous and waits for a human:')
  say(`   ${approvals[0].tool} ${JSON.stringify(approvals[0].args)}, because of ${approvals[0].why}`)
  assert.ok(existsSync(join(letters, 'draft.txt')), 'nothing was moved before somebody said yes')

  const approved = await metier(space, ['approve', approvals[0].id, '--json'])
  assert.equal(approved.code, 0, approved.stdout + approved.stderr)
  say(`3. A human approves it, and the gateway goes on: ${approvals[0].command}`)
  const lastCall = async () =>
    ((await (await fetch(`${gateway.url}/api/runs/${run}`)).json()) as { calls: Call[] }).calls.at(-1)
  while ((await lastCall())?.tool !== 'metier:timer') await pause(20)
  assert.ok(existsSync(join(letters, 'sent.txt')))
  await gateway.stop('SIGKILL')
  const [interrupted] = (await metier(space, ['runs', '--json'])).json
  assert.deepEqual([interrupted.run, interrupted.status], [run, 'interrupted'])
  say(`4. kill -9 while the program sleeps: the run is ${interrupted.status}. The gateway is started again.`)

  await serve(scope, space, [], { port })
  next = (results) => (results.length === 2 ? { tool: 'execute', input: { resume: run } } : { say: 'It is sent.' })
  const second = await claude(space, stub, 'How is it going?', true)
  assert.equal(second.code, 0, second.stdout + second.stderr)
  const outcome = JSON.parse(stub.results()[2]!)
  assert.equal(outcome.status, 'done', JSON.stringify(outcome))
  assert.equal(outcome.result.content, 'Dear reader')
  say(`5. Claude Code goes on with the run: ${JSON.stringify(outcome.result.content)}`)

  const { calls } = await record(space, run)
  assert.deepEqual(
    calls.map(({ tool, attempts }) => [tool, attempts]),
    [
      ['files:list_directory', 1],
      ['time:days_in_month', 1],
      ['files:move_file', 1],
      ['metier:timer', 0],
      ['files:read_text_file', 1],
    ],
    'every call was made once',
  )
  const verified = await metier(space, ['audit', 'verify', '--json'])
  assert.equal(verified.json.ok, true, verified.stdout)
  const replayed = await metier(space, ['run', 'replay', run, '--json'])
  assert.equal(replayed.json.ok, true, replayed.stdout)
  say(
    `6. ${verified.json.events} events verify, and the program does the same again when it is replayed. Nothing was done twice.`,
  )
}

/**
 * Two servers that others wrote, in a folder of its own; what the second does is known to be
 * harmless.
 */
function build(scope: Scope, port: number): Workspace {
  const space = workspace(scope)
  const letters = join(space.folder, 'letters')
  mkdirSync(letters)
  writeFileSync(join(letters, 'draft.txt'), 'Dear reader')
  const server = (name: string, ...args: string[]) => ({
    command: process.execPath,
    args: [join(mcpServerPrograms, name), ...args],
  })
  const mcpServers = {
    files: server('mcp-server-filesystem', letters),
    time: { ...server('time-mcp'), effects: { days_in_month: 'read' } },
  }
  writeFileSync(space.file, JSON.stringify({ mcpServers, http: { host: '127.0.0.1', port } }, null, 2))
  return space
}

type Line = { type: string; body: { call?: string } }
type Call = { tool: string; attempts: number }

async function record(space: Workspace, run: string): Promise<{ events: Line[]; calls: Call[] }> {
  const { stdout } = await metier(space, ['audit', 'show', run, '--json'])
  const { json } = await metier(space, ['run', 'show', run, '--json'])
  const lines = stdout.trim().split('\n')
  return { events: lines.map((line) => JSON.parse(line)), calls: json.calls }
}

if (hostsMissing !== false || !existsSync(mcpServerPrograms)) {
  console.error('Cannot tell the story: run "node scripts/services.ts up hosts mcp-servers" first.')
  process.exitCode = 2
} else {
  const cleanups: (() => unknown)[] = []
  try {
    await story({ after: (cleanup) => void cleanups.unshift(cleanup as () => unknown) })
  } finally {
    for (const cleanup of cleanups) await cleanup()
  }
}
