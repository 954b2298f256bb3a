/** The built-in server through the verbs: found, judged, asked about, replayed and refused like any other, with scripts in real boxes. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Event, Json, JsonObject } from '#model'
import { caller, openSpace, whyNot, workspace } from '#test'

const tool = 'metier:execute_script_in_sandbox'
const skip = whyNot('os')
const outbound = { sandbox: { outbound: ['127.0.0.1:9'] } }
const os = { tier: 'os' }
const bash = (scriptContent: string, config: JsonObject = {}) => ({
  interpreter: 'bash',
  scriptContent,
  config: { ...os, ...config },
})
const open = async (t: TestContext, config: object = {}) =>
  openSpace(workspace(t, { config: { mcpServers: {}, ...config } }))
const plan = (args: Json) => ({
  implementation: { type: 'code', code: `return tool(${JSON.stringify(tool)}, ${JSON.stringify(args)})` },
})
const error = ({ error }: JsonObject) => error as { code: string; context: JsonObject; message: string }

type Lines = { lines(run: string): string[] }
function body<Type extends Event['type']>(verbs: Lines, { run }: JsonObject, type: Type) {
  const events = verbs.lines(String(run)).map((line) => JSON.parse(line) as Event)
  return events.filter((event) => event.type === type).at(-1)?.body as Event<Type>['body'] | undefined
}

test('discover() finds a built-in tool with no server configured, by its short text; the whole of it comes with the schemas', async (t) => {
  const verbs = await open(t)
  const find = async (input: object) => {
    const { results } = await verbs.discover({ intent: 'run a python script', ...input }, caller)
    return (results as JsonObject[]).find(({ id }) => id === tool)!
  }
  const short = await find({})
  assert.match(String(short.description), /^Run a Python, Bash or Go script in an isolated sandbox/)
  assert.doesNotMatch(String(short.description), /Parameters|SANDBOX_/)
  assert.deepEqual([short.effect, short.effects], ['unsafe', ['read', 'unsafe']])
  const whole = String((await find({ schemas: true })).description)
  const headings = [
    'Description:',
    'Parameters:',
    'Returns:',
    'Error codes',
    'Preconditions:',
    'Postconditions (success):',
    'Idempotence:',
    'Example:',
    '  Intention:',
    '  Call:',
    '  Success:',
    '  Typical error:',
  ]
  const places = headings.map((heading) => whole.indexOf(`\n${heading}`))
  assert.deepEqual(
    places,
    [...places].sort((a, b) => a - b),
    'every heading of the template, in its order',
  )
  assert.ok(
    places.every((place) => place > 0),
    JSON.stringify(places),
  )
  for (const effect of ['read', 'unsafe'])
    assert.equal((await find({ filter: { effect } })).id, tool, `it can be ${effect}`)
})

test('execute() runs a script without a network under standard and minimal, and asks or denies one with it', {
  skip,
}, async (t) => {
  const outcomes: Record<string, unknown> = {}
  for (const permissions of ['standard', 'minimal']) {
    const verbs = await open(t, { ...outbound, policy: { permissions } })
    const closed = await verbs.execute(plan(bash('echo hi')), caller)
    assert.deepEqual((closed.result as JsonObject | undefined)?.stdout, 'hi\n', JSON.stringify(closed))
    assert.deepEqual(Object.keys(closed.result as JsonObject), [
      'stdout',
      'stderr',
      'exitCode',
      'truncated',
      'isolation',
    ])
    const issued = body(verbs, closed, 'call.issued')!
    assert.deepEqual([issued.effect, issued.effectFrom], ['read', 'built-in'])
    const asked = await verbs.execute(plan(bash('echo hi', { networkPolicy: 'OUTBOUND_LIMITED' })), caller)
    outcomes[permissions] = [asked.status, error(asked)?.code]
    assert.equal(body(verbs, asked, 'call.issued')!.effect, 'unsafe')
    assert.deepEqual(Object.keys(body(verbs, closed, 'run.started')!.servers), ['metier'])
    assert.equal((await verbs.replay(String(closed.run))).ok, true)
  }
  assert.deepEqual(outcomes, { standard: ['approval_required', undefined], minimal: ['failed', 'PERMISSION_DENIED'] })
})

test('execute() classes a call anew by the arguments that a human or a fork puts in place of its own', {
  skip,
}, async (t) => {
  const rules = [{ tool: 'metier:*', effect: 'read', then: 'ask' }]
  const verbs = await open(t, { ...outbound, policy: { permissions: 'standard', rules } })
  const asked = await verbs.execute(plan(bash('echo one')), caller)
  const [{ id }] = asked.approvals as [{ id: string }]
  const args = bash('echo two', { networkPolicy: 'OUTBOUND_LIMITED' })
  const answered = await verbs.decide(id, { answer: 'approved', args }, caller, true)
  assert.equal((answered.result as JsonObject | undefined)?.stdout, 'two\n', JSON.stringify(answered))
  assert.equal(body(verbs, answered, 'call.issued')!.effect, 'read')
  assert.equal(body(verbs, answered, 'call.sent')!.effect, 'unsafe')
  const [call] = (await verbs.run(String(answered.run))).calls as JsonObject[]
  assert.equal(call!.effect, 'unsafe', 'whoever looks at the run sees what was sent')
  const forked = await verbs.fork(String(answered.run), 1, args, caller)
  assert.equal(forked.status, 'approval_required')
  assert.equal(body(verbs, forked, 'call.issued')!.effect, 'unsafe')
})

test('execute() hands placeholders of secrets to a built-in tool as text, and asks nobody about them', {
  skip,
}, async (t) => {
  const verbs = await open(t, { record: { secrets: ['sk-[a-z]{20,}'] } })
  const token = `sk-${'b'.repeat(24)}`
  const answer = await verbs.execute(plan(bash(`echo ${token} | wc -c; echo '${token}'`)), caller)
  const { stdout } = answer.result as { stdout: string }
  assert.match(stdout, /« secret:[0-9a-f]{32}»\n$/, JSON.stringify(answer))
  assert.doesNotMatch(stdout, new RegExp(`^${token.length + 1}\\n`), 'the script was given another text')
})

test('execute() refuses what the script tool cannot take, each with its code, before anything is sent', async (t) => {
  const verbs = await open(t)
  const id = '019a94c2-0000-7000-8000-000000000000'
  const inputs = (inputArtifacts: JsonObject) => bash('true', { inputArtifacts })
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`artifacts/${id}/${n}`, `/inputs/${n}`]))
  const cases: [JsonObject, string, string | undefined][] = [
    [{ scriptContent: 'x' }, 'MISSING_REQUIRED_PARAM', 'interpreter'],
    [{ interpreter: 'bash' }, 'MISSING_REQUIRED_PARAM', 'scriptContent'],
    [{ interpreter: '', scriptContent: 'x' }, 'INVALID_INPUT_PARAM', 'interpreter'],
    [{ interpreter: 'ruby', scriptContent: 'x' }, 'SANDBOX_INVALID_INTERPRETER', undefined],
    [{ interpreter: 'bash', scriptContent: ' ' }, 'INVALID_INPUT_PARAM', 'scriptContent'],
    [{ interpreter: 'bash', scriptContent: 'a\0b' }, 'INVALID_INPUT_PARAM', 'scriptContent'],
    [bash('x', { networkPolicy: 'ALL' }), 'INVALID_INPUT_PARAM', 'config.networkPolicy'],
    [bash('x', { networkPolicy: 'OUTBOUND_LIMITED' }), 'PERMISSION_DENIED', undefined],
    [bash('x', { timeoutSeconds: 'long' }), 'INVALID_INPUT_PARAM', 'config.timeoutSeconds'],
    [bash('x', { tier: 'wasm' }), 'INVALID_INPUT_PARAM', 'config.tier'],
    [bash('x', { outputs: ['/outputs/a'] }), 'INVALID_INPUT_PARAM', 'config.outputs'],
    [inputs({ [`artifacts/${id}/a`]: '/etc/passwd' }), 'INVALID_INPUT_PARAM', 'config.inputArtifacts'],
    [inputs({ [`artifacts/${id}/a`]: '/inputs/../etc/passwd' }), 'INVALID_INPUT_PARAM', 'config.inputArtifacts'],
    [inputs({ [`artifacts/${id}/a`]: 'inputs/a' }), 'INVALID_INPUT_PARAM', 'config.inputArtifacts'],
    [inputs({ [id]: '/inputs/a' }), 'INVALID_INPUT_PARAM', 'config.inputArtifacts'],
    [inputs({ '../keys/a': '/inputs/a' }), 'INVALID_INPUT_PARAM', 'config.inputArtifacts'],
    [inputs({ [`artifacts/${id}/../a`]: '/inputs/a' }), 'INVALID_INPUT_PARAM', 'config.inputArtifacts'],
    [inputs({ [`/artifacts/${id}/a`]: '/inputs/a' }), 'INVALID_INPUT_PARAM', 'config.inputArtifacts'],
    [
      inputs({ [`artifacts/${id}/a`]: '/inputs/a', [`artifacts/${id}/b`]: '/inputs/./a' }),
      'INVALID_INPUT_PARAM',
      'config.inputArtifacts',
    ],
    [inputs(many), 'INVALID_INPUT_PARAM', 'config.inputArtifacts'],
  ]
  for (const [args, code, param] of cases) {
    const answer = await verbs.execute(plan(args), caller)
    const refused = error(answer)
    assert.deepEqual(
      [refused?.code, refused?.context.param],
      [code, param],
      JSON.stringify([args, answer]).slice(0, 900),
    )
    assert.equal(body(verbs, answer, 'call.sent'), undefined, 'nothing was sent')
  }
  const off = error(await verbs.execute(plan({ interpreter: 'ruby', scriptContent: 'x' }), caller))
  assert.deepEqual(off.context.allowed_values, ['python', 'bash', 'go run'])
  const network = error(await verbs.execute(plan(bash('x', { networkPolicy: 'ALL' })), caller))
  assert.deepEqual(network.context.allowed_values, ['NONE', 'OUTBOUND_LIMITED'])
  const missing = error(await verbs.execute(plan(inputs({ [`artifacts/${id}/a`]: '/inputs/a' })), caller))
  assert.deepEqual([missing.code, missing.context.storagePath], ['S3_ARTIFACT_NOT_FOUND', `artifacts/${id}/a`])
})

test("execute() calls none of the names that are the engine's own, and no built-in tool has one", async (t) => {
  const verbs = await open(t)
  const { tools } = await verbs.tools('metier')
  assert.deepEqual(
    tools.map(({ id, pinned }) => [id, pinned]),
    [[tool, false]],
  )
  for (const name of ['metier:timer', 'metier:program']) {
    const code = `return tool(${JSON.stringify(name)}, { ms: 1 })`
    assert.equal((await verbs.execute({ implementation: { type: 'code', code } }, caller)).status, 'failed')
  }
  const near = error(await verbs.execute(plan({}), caller))
  assert.equal(near.code, 'MISSING_REQUIRED_PARAM')
  const login = async () => verbs.catalog.login('metier', { authorize: null as never, signal: AbortSignal.abort() })
  await assert.rejects(login, {
    code: 'CONFIG_INVALID',
    message: /Cannot log in to "metier": its tools run in this process/,
  })
})
