/**
 * The built-in server through the verbs: found, judged, asked about, replayed and refused like any
 * other, with scripts in real boxes.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Event, type Json, type JsonObject, sha256 } from '#model'
import { openArtifactFolder } from '#record'
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
  assert.deepEqual([short.effect, short.effects], ['unsafe', ['read', 'idempotent', 'unsafe']])
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
    '  Typical error',
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
  for (const effect of ['read', 'idempotent', 'unsafe'])
    assert.equal((await find({ filter: { effect } })).id, tool, `it can be ${effect}`)
})

test('execute() runs every script but one with a network under standard, and under minimal only one that keeps nothing', {
  skip,
}, async (t) => {
  const outcomes: Record<string, unknown> = {}
  for (const permissions of ['standard', 'minimal']) {
    const verbs = await open(t, { ...outbound, policy: { permissions } })
    const run = async (config: JsonObject, effect: string) => {
      const answer = await verbs.execute(plan(bash('echo hi', config)), caller)
      const issued = body(verbs, answer, 'call.issued')!
      assert.deepEqual([issued.effect, issued.effectFrom], [effect, 'built-in'])
      return answer
    }
    const closed = await run({}, 'read')
    assert.deepEqual((closed.result as JsonObject | undefined)?.stdout, 'hi\n', JSON.stringify(closed))
    const members = ['stdout', 'stderr', 'exitCode', 'truncated', 'isolation']
    assert.deepEqual(Object.keys(closed.result as JsonObject), members)
    await run({ networkPolicy: 'NONE', outputs: [] }, 'read')
    const outputs = ['/outputs/a']
    const answers = [
      await run({ outputs }, 'idempotent'),
      await run({ networkPolicy: 'OUTBOUND_LIMITED' }, 'unsafe'),
      await run({ networkPolicy: 'OUTBOUND_LIMITED', outputs }, 'unsafe'),
    ]
    outcomes[permissions] = answers.map((answer) => [answer.status, error(answer)?.code])
    assert.deepEqual(Object.keys(body(verbs, closed, 'run.started')!.servers), ['metier'])
    assert.equal((await verbs.replay(String(closed.run))).ok, true)
  }
  const asked = ['approval_required', undefined]
  const denied = ['failed', 'PERMISSION_DENIED']
  assert.deepEqual(outcomes, { standard: [['done', undefined], asked, asked], minimal: [denied, denied, denied] })
})

test('execute() stores the files that a script named as artifacts of its run, and says which are missing', {
  skip,
}, async (t) => {
  const space = workspace(t, { config: { mcpServers: {} } })
  const verbs = await openSpace(space)
  const store = openArtifactFolder(join(space.home, 'artifacts'))
  const script =
    'mkdir /outputs/d; printf one >/outputs/d/a.csv; printf two >/outputs/...; ln -s a.csv /outputs/l; exit 4'
  const paths = ['/outputs/d/a.csv', '/outputs/./...', '/outputs/l', '/outputs/never']
  const answer = await verbs.execute(plan(bash(script, { outputs: paths })), caller)
  const result = answer.result as { exitCode: number; artifacts: JsonObject[]; missing: JsonObject[] }
  assert.equal(result?.exitCode, 4, JSON.stringify(answer))
  assert.deepEqual(result.missing, [
    { path: '/outputs/l', reason: 'not_regular' },
    { path: '/outputs/never', reason: 'absent' },
  ])
  const texts = { '/outputs/d/a.csv': ['a.csv', 'one'], '/outputs/...': ['output', 'two'] }
  for (const { path, artifactID, storagePath, bytes, sha256: digest } of result.artifacts) {
    const [name, text] = texts[path as keyof typeof texts]
    assert.equal(storagePath, `artifacts/${artifactID}/${name}`)
    const stored = (await store.get(String(storagePath)))!
    assert.deepEqual([stored.owner, stored.bytes, stored.digest], [answer.run, bytes, digest])
    assert.deepEqual([bytes, digest], [3, sha256(text!)])
  }
  assert.equal(result.artifacts.length, 2)
  assert.equal((await verbs.replay(String(answer.run))).ok, true)
  const [{ storagePath }] = result.artifacts as [{ storagePath: string }]
  const inputArtifacts = { [storagePath]: '/inputs/a.csv' }
  const next = await verbs.execute(plan(bash('cat /inputs/a.csv', { inputArtifacts })), caller)
  assert.equal((next.result as JsonObject).stdout, 'one', 'an output can be the input of the next script')
})

test('execute() classes a call anew by the arguments that a human or a fork puts in place of its own', {
  skip,
}, async (t) => {
  const rules = [{ tool: 'metier:*', effect: 'read', then: 'ask' }]
  const verbs = await open(t, { ...outbound, policy: { permissions: 'standard', rules } })
  const edits: [JsonObject, string, string][] = [
    [{ outputs: ['/outputs/a'] }, 'idempotent', 'done'],
    [{ networkPolicy: 'OUTBOUND_LIMITED' }, 'unsafe', 'approval_required'],
  ]
  for (const [config, effect, forkedStatus] of edits) {
    const asked = await verbs.execute(plan(bash('echo one')), caller)
    const [{ id }] = asked.approvals as unknown as [{ id: string }]
    const args = bash('echo two', config)
    const answered = await verbs.decide(id, { answer: 'approved', args }, caller, true)
    assert.equal((answered.result as JsonObject | undefined)?.stdout, 'two\n', JSON.stringify(answered))
    assert.equal(body(verbs, answered, 'call.issued')!.effect, 'read')
    assert.equal(body(verbs, answered, 'call.sent')!.effect, effect)
    const [call] = (await verbs.run(String(answered.run))).calls as JsonObject[]
    assert.equal(call!.effect, effect, 'whoever looks at the run sees what was sent')
    const forked = await verbs.fork(String(answered.run), 1, args, caller)
    assert.equal(forked.status, forkedStatus)
    assert.equal(body(verbs, forked, 'call.issued')!.effect, effect)
  }
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
  const elsewhere = ['/etc/passwd', 'outputs/a', '/outputs', '/outputs/../etc/passwd', '/inputs/a', '/outputs/a\nb']
  const outputs: Json[] = [
    ...elsewhere.map((path) => [path]),
    ['/outputs/a', '/outputs/./a'],
    Array.from({ length: 65 }, (_, n) => `/outputs/${n}`),
  ]
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
    ...outputs.map((paths): [JsonObject, string, string] => [
      bash('x', { outputs: paths }),
      'INVALID_INPUT_PARAM',
      'config.outputs',
    ]),
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
  assert.ok(tools.length > 10 && tools.every(({ pinned }) => pinned === false))
  assert.ok(!tools.some(({ id }) => id === 'metier:timer' || id === 'metier:program'))
  for (const name of ['metier:timer', 'metier:program']) {
    const code = `return tool(${JSON.stringify(name)}, { ms: 1 })`
    assert.equal((await verbs.execute({ implementation: { type: 'code', code } }, caller)).status, 'failed')
  }
  const near = error(await verbs.execute(plan({}), caller))
  assert.equal(near.code, 'MISSING_REQUIRED_PARAM')
  const login = async () =>
    verbs.login('metier', { port: 0, show: () => {}, pasted: new Promise(() => {}), signal: AbortSignal.abort() })
  await assert.rejects(login, {
    code: 'CONFIG_INVALID',
    message: /Cannot log in to "metier": its tools run in this process/,
  })
})
