/**
 * A session of each protocol, killed at every one of its events: resumed, it comes to the same end,
 * and nothing that is on the record is asked or run again. The provider counts what it is asked,
 * and each script leaves something unique behind.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Event } from '#model'
import { auditAtEnd, metier, openSpace, providerStub, type Reply, root, whyNot, workspace } from '#test'

const skip = whyNot('os')
const everything = process.env.LONG === '1'

/** Prints its name; what it hands out differs each time that it runs. */
const program = (name: string) =>
  `import uuid\nopen("/outputs/${name}", "w").write(uuid.uuid4().hex)\nprint("${name}")\n`
const script = (name: string, prompt: string) => ({
  thought_process: name,
  artifacts: [{ path: `workbench/scripts/${name}.py`, content: program(name) }],
  next_action: { type: 'exec_and_chain', target_script: `workbench/scripts/${name}.py`, continuation_prompt: prompt },
})
const answers = {
  rebound: [
    script('one', 'Then?'),
    script('two', 'And?'),
    { thought_process: 'end', artifacts: [{ path: 'out.md', content: 'done' }], final_result: 'Both ran.' },
  ].map((answer) => JSON.stringify(answer)),
  tool_code: [`<tool_code>\n${program('one')}</tool_code>`, `<tool_code>\n${program('two')}</tool_code>`, 'Both ran.'],
}
type Protocol = keyof typeof answers

/** How many events each has when nothing happens to it. */
const events = { rebound: 26, tool_code: 29 }
/** Sent to the model, sent to the box, answered by it, and the last. */
const sample = { rebound: [3, 9], tool_code: [10, 29] }

for (const protocol of ['rebound', 'tool_code'] as const) {
  for (const moment of everything ? (['after', 'before'] as const) : (['after'] as const)) {
    const all = Array.from({ length: events[protocol] }, (_, index) => index + 1)
    const boundaries = everything ? all : sample[protocol]
    test(`a ${protocol} session killed ${moment} event ${boundaries.join(', ')} comes to the same end`, {
      skip,
      timeout: 3_600_000,
    }, async (t) => {
      let sandbox: string | null = null
      for (const boundary of boundaries) {
        sandbox = await killedAt(t, { protocol, boundary, moment, sandbox })
      }
    })
  }
}

type Kill = { protocol: Protocol; boundary: number; moment: 'before' | 'after'; sandbox: string | null }

async function killedAt(t: TestContext, { protocol, boundary, moment, sandbox }: Kill): Promise<string | null> {
  let project = ''
  auditAtEnd(t, () => project)
  const space = workspace(t, { config: { mcpServers: {} } })
  const stub = await providerStub(t, join(space.folder, 'asked.jsonl'), (_, { body }): Reply => {
    const heard = body.messages.filter(({ role }: { role: string }) => role === 'assistant').length
    return { text: answers[protocol][heard]! }
  })
  project = join(space.folder, 'project')
  mkdirSync(project)
  const state = join(space.home, 'sandbox')
  if (sandbox !== null) copyTested(sandbox, state)
  const order = { ...space, opened: undefined, goal: 'Run both', workspace: project, protocol, boundary, moment }
  await dies(space.folder, { ...order, model: `compatible:stub@${stub.url}` })

  const verbs = await openSpace(space)
  const [row] = verbs.runs() as { run: string }[]
  // Its first three events reach the disk together: killed before, there is no session.
  if (row === undefined) {
    assert.ok(moment === 'before' && boundary <= 3, `${moment} event ${boundary}: there is no session`)
    return sandbox
  }
  const before = verbs.eventsOf(row.run)
  if (boundary === events[protocol] && moment === 'after') assert.equal(before.at(-1)!.type, 'run.finished')
  const open = openCall(before)
  await verbs.close()
  const resumed = await metier(space, ['agent', 'resume', row.run, '--json'])
  const at = `${moment} event ${boundary}`
  assert.equal(resumed.code, 0, `${at}: ${resumed.stdout}${resumed.stderr}`)
  assert.partialDeepStrictEqual(resumed.json, { status: 'done', steps: 3, result: { text: 'Both ran.' } }, at)
  assert.deepEqual(texts(project), expectedTexts(protocol), at)
  const again = (tool: RegExp) => (open !== null && tool.test(open) ? 1 : 0)
  between(stub.requests().length, 3, 3 + again(/^model:/), `${at}: requests at the provider`)
  between(storedIn(space.home), 2, 2 + again(/^workspace:run$/), `${at}: runs of the two scripts`)
  assert.equal((await metier(space, ['session', 'verify', row.run])).code, 0, at)
  return state
}

/** What was found out of this machine's boxes is the same for every home. */
function copyTested(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const name of readdirSync(from)) if (name.startsWith('self-test')) copyFileSync(join(from, name), join(to, name))
}

function between(count: number, least: number, most: number, what: string): void {
  assert.ok(count >= least && count <= most, `${what}: ${count}, expected ${least} to ${most}`)
}

/** At home where the resuming command is: both must find the same boxes. */
async function dies(home: string, order: object): Promise<void> {
  const child = spawn(process.execPath, [join(root, 'test', 'fault', 'killed-session.ts'), JSON.stringify(order)], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH!, HOME: home },
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const signal = await new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)))
  assert.equal(signal, 'SIGKILL', `${said} it came to its end`)
}

/** The tool of the one call that was sent and not answered. */
function openCall(events: Event[]): string | null {
  const last = events.at(-1)!
  if (last.type !== 'call.sent') return null
  const issued = events.find((event) => event.type === 'call.issued' && event.body.call === last.body.call)
  return (issued as Event<'call.issued'>).body.tool
}

function storedIn(home: string): number {
  const folder = join(home, 'artifacts')
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
  return names.filter((name) => /\/(one|two)$/.test(name)).length
}

/** What the session wrote, by the names of its files without their times. */
function texts(project: string): string[] {
  const places = ['workbench', 'artifacts', 'out.md'].filter((name) => existsSync(join(project, name)))
  const files = places.flatMap((place) => {
    const path = join(project, place)
    if (place === 'out.md') return [path]
    const all = readdirSync(path, { recursive: true, withFileTypes: true })
    return all.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  })
  return files.map((file) => `${file.slice(file.lastIndexOf('/') + 1)} ${readFileSync(file, 'utf8')}`).sort()
}

function expectedTexts(protocol: Protocol): string[] {
  const names = ['one', 'two']
  if (protocol === 'rebound') return [...names.map((name) => `${name}.py ${program(name)}`), 'out.md done'].sort()
  const output = (name: string) => `tool_output.txt returncode: 0\n\n[STDOUT]\n${name}\n\n[STDERR]\n\n`
  return names.flatMap((name) => [output(name), `tool_script.py ${program(name)}`]).sort()
}
