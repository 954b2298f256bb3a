/**
 * What holds of every built-in tool: its name, parameters, answer and class as others rely on them,
 * a text with every heading, an example that is true, and what each permission set does with it.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type BuiltInTool, openBuiltIn } from '#catalog/built-in'
import { builtInTools } from '#catalog/built-in-tools'
import { example } from '#catalog/graph-tools'
import { problemOf } from '#catalog/schema'
import { AppError, type ErrorCode, type Json, type JsonObject, newId, type Tool } from '#model'
import { type ArtifactsAddress, openArtifacts } from '#record'
import { ensureNode, openGraphStore, openTaskGraph } from '#tasks'
import { caller, openSpace, temporaryFolder, whyNot, workspace } from '#test'

/** Parameters with `?` may be left out. */
const surface: Record<string, [parameters: string, answer: string, effect: string]> = {
  create_mission: ['name, description?', 'missionID', 'idempotent'],
  list_missions: ['status?, runs?, limit?, offset?', 'missions, next', 'read'],
  update_mission_status: ['missionID, newStatus, expectedStatus?', 'missionID, status, updatedAt', 'idempotent'],
  create_task_node: ['parentNodeID, taskName?, description, initialStatus?', 'taskID', 'idempotent'],
  get_task_details: ['taskID', 'task', 'read'],
  list_tasks: ['missionID?, status?, ready?, limit?, offset?', 'tasks, next', 'read'],
  update_task_status: ['taskID, newStatus, expectedStatus?', 'taskID, status, updatedAt', 'idempotent'],
  update_task: ['taskID, name?, priority?, expectedDeliverable?, resultData?, notes?', 'task', 'idempotent'],
  add_relationship: ['fromNodeID, toNodeID, relationshipType', 'created', 'idempotent'],
  remove_relationship: ['fromNodeID, toNodeID, relationshipType', 'removed', 'idempotent'],
  check_task_dependencies_completion: ['taskID', 'allCompleted', 'read'],
  claim_ready_task: ['agentID, missionID?, capabilities?', 'task', 'idempotent'],
  ensure_node: ['kind, name', 'nodeID', 'idempotent'],
  record_validation: ['taskID, passed, report?', 'validationID', 'idempotent'],
  record_failure: ['taskID, code, message', 'failureID', 'idempotent'],
  store_artifact: [
    'ownerEntityID, artifactName, contentType, content?, contentBase64?, from?, size?, relationship?',
    'artifactID, storagePath, bytes, sha256',
    'idempotent',
  ],
  retrieve_artifact: ['storagePath, offset?, limit?', 'artifact', 'read'],
  get_artifact_info: ['artifactID', 'artifact', 'read'],
  execute_script_in_sandbox: [
    'interpreter, scriptContent, config?',
    'stdout, stderr, exitCode, truncated, clamped?, isolation, artifacts?, missing?',
    'read, idempotent, unsafe',
  ],
}

function membersOf({ properties, required }: JsonObject): string {
  const names = Object.keys(properties as JsonObject)
  return names.map((name) => ((required as string[]).includes(name) ? name : `${name}?`)).join(', ')
}

const effectsOf = ({ effect, byArguments }: BuiltInTool) => (byArguments?.effects ?? [effect]).join(', ')

test('the tools, their parameters, answers and classes are those that others rely on', () => {
  const found = builtInTools.map((tool) => [
    tool.name,
    [membersOf(tool.input), membersOf(tool.output), effectsOf(tool)],
  ])
  assert.deepEqual(Object.fromEntries(found), surface)
})

const headings = [
  'Description: ',
  'Parameters:',
  'Returns:',
  'Error codes (',
  'Preconditions:',
  'Postconditions (success):',
  'Idempotence: ',
  'Example:',
  '  Intention: ',
  '  Call: ',
  '  Success: ',
  '  Typical error',
]

test('every tool says everything under the headings of the template, in their order, and its example is true', (t) => {
  const server = open(t)
  for (const { name, documentation, input, output } of builtInTools) {
    const lines = server.tools.find((tool) => tool.name === name)!.documentation!.split('\n')
    const places = headings.map((heading) => lines.findIndex((line) => line.startsWith(heading)))
    assert.ok(lines[0]!.startsWith(`metier:${name}: `) && !places.includes(-1), `${name}: ${places}`)
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
      name,
    )
    for (const [index, place] of places.slice(0, 8).entries()) {
      const isWithin = index === 0 || headings[index] === 'Idempotence: '
      const said = isWithin ? lines[place]!.slice(headings[index]!.length) : lines[place + 1]!
      assert.match(said, isWithin ? /\S.{20}/ : /^ {2}\S/, `${name}: nothing is said under ${headings[index]}`)
    }
    const { example, errors, parameters } = documentation
    const optional = parameters.filter(({ ifOmitted }) => ifOmitted !== undefined).map((parameter) => parameter.name)
    const required = input.required as string[]
    for (const parameter of parameters)
      assert.equal(optional.includes(parameter.name), !required.includes(parameter.name), `${name} ${parameter.name}`)
    assert.equal(problemOf(as(`${name} in`, input), example.call), null, `the call of ${name}`)
    assert.equal(problemOf(as(`${name} out`, output), example.success), null, `the success of ${name}`)
    assert.ok(example.error.code in errors, `the error of ${name}`)
    const described = new Set(parameters.map((parameter) => parameter.name.split('.')[0]))
    assert.deepEqual([...described], Object.keys(input.properties as JsonObject), name)
  }
})

/** The nodes that the examples speak of. */
async function seedExamples({ home }: Server): Promise<void> {
  const at = '2026-01-31T09:30:00.000Z'
  const { mission, task, other } = example
  const node = (id: string, kind: 'Mission' | 'Task' | 'Tag', more: object = {}) =>
    ({ id, kind, createdAt: at, updatedAt: at, properties: { description: 'd' }, ...more }) as const
  const store = await openGraphStore({ file: join(home, 'tasks.db') })
  await store.write(async (writer) => {
    await writer.createNode(node(mission, 'Mission', { name: 'm', status: 'CANCELED' }))
    await writer.createNode(node(task, 'Task', { missionID: mission, status: 'IN_PROGRESS' }))
    await writer.createNode(node(other, 'Task', { missionID: mission, status: 'QUEUED' }))
  }, AbortSignal.timeout(60_000))
  await ensureNode(
    openTaskGraph(store),
    { kind: 'Tag', name: 'urgent' },
    { run: newId(), call: '1', signal: AbortSignal.timeout(60_000) },
  )
  await store.close()
}

test('the typical error of every tool is what the tool answers, word for word', async (t) => {
  const server = open(t)
  await seedExamples(server)
  for (const { name, documentation } of builtInTools) {
    const { call, error } = documentation.example
    const { given = {}, code, message, context } = error
    const answered = await errorOf(server, name, { ...call, ...given })
    assert.equal(String(answered), String(new AppError(code, message, context)), name)
  }
})

const as = (digest: string, input: JsonObject) => ({ id: digest, name: digest, digest, input }) as unknown as Tool

/** Calls every tool, a script without a network; answers with the codes of the refused ones. */
const everyTool = `
const refused = {}
const call = async (name, given) => tool('metier:' + name, given).catch((error) => { refused[name] = error.code; return {} })
const { missionID } = await call('create_mission', { name: 'm' })
const id = missionID ?? '00000000-0000-7000-8000-000000000000'
await call('list_missions', {})
const { taskID = id } = await call('create_task_node', { parentNodeID: id, description: 'd' })
await call('get_task_details', { taskID })
await call('list_tasks', {})
await call('update_task', { taskID, notes: 'n' })
const { nodeID: agentID = id } = await call('ensure_node', { kind: 'Agent', name: 'a' })
await call('claim_ready_task', { agentID })
await call('add_relationship', { fromNodeID: taskID, toNodeID: missionID === undefined ? agentID : id, relationshipType: 'PART_OF' })
await call('remove_relationship', { fromNodeID: taskID, toNodeID: missionID === undefined ? agentID : id, relationshipType: 'PART_OF' })
await call('record_validation', { taskID, passed: true })
await call('record_failure', { taskID, code: 'C', message: 'm' })
await call('update_task_status', { taskID, newStatus: 'DONE' })
await call('update_mission_status', { missionID: id, newStatus: 'DONE' })
const { storagePath = 'artifacts/' + id + '/a', artifactID = id } =
  await call('store_artifact', { ownerEntityID: taskID, artifactName: 'a', contentType: 'text/plain', content: 'x' })
await call('retrieve_artifact', { storagePath })
await call('get_artifact_info', { artifactID })
await call('check_task_dependencies_completion', { taskID })
await call('execute_script_in_sandbox', { interpreter: 'bash', scriptContent: 'true', config: { tier: 'os' } })
return refused`

test('under standard every tool runs without asking, under minimal those that read', {
  skip: whyNot('os'),
}, async (t) => {
  for (const permissions of ['standard', 'minimal']) {
    const verbs = await openSpace(workspace(t, { config: { mcpServers: {}, policy: { permissions } } }))
    const answer = await verbs.execute({ implementation: { type: 'code', code: everyTool } }, caller)
    assert.equal(answer.status, 'done', JSON.stringify(answer))
    assert.equal(answer.callCount, builtInTools.length)
    const denied = Object.entries(answer.result as JsonObject).filter(([, code]) => code === 'PERMISSION_DENIED')
    const writing = builtInTools.filter(({ effect, byArguments }) => effect !== 'read' && byArguments === undefined)
    const expected = permissions === 'standard' ? [] : writing.map(({ name }) => name)
    assert.deepEqual(denied.map(([name]) => name).sort(), expected.sort())
    if (permissions === 'standard') assert.deepEqual(answer.result, {})
  }
})

test('a run is bound to the address of graph and artifacts, by a digest that no release changes', async (t) => {
  const verbs = await openSpace(workspace(t, { config: { mcpServers: {} } }))
  const { run } = await verbs.execute({ implementation: { type: 'code', code: 'return 1' } }, caller)
  const digest = JSON.parse(verbs.store.lines(String(run))[0]!).body.servers.metier
  assert.equal(digest, open(t).digest)
  assert.equal(digest, 'c6ba4d78f06920ae1c1c692bdc1ef44852e5f71c9c893d1d4ad4fae164a7b52f')
  const elsewhere = { url: 'bolt://127.0.0.1:1', user: 'neo4j', password: 'secret of it', database: 'neo4j' }
  const other = open(t, { taskGraph: elsewhere }).digest
  assert.notEqual(other, digest)
  assert.equal(open(t, { taskGraph: { ...elsewhere, password: 'another' } }).digest, other)
})

test('a run that waits goes on with the graph that it began with, and with no other', async (t) => {
  const policy = { rules: [{ tool: 'metier:*', then: 'ask' }] }
  const space = workspace(t, { config: { mcpServers: {}, policy } })
  const use = async (config: object) => {
    writeFileSync(space.file, JSON.stringify({ mcpServers: {}, policy, ...config }))
    return openSpace(space)
  }
  const first = await use({})
  const code = `return tool('metier:create_mission', { name: 'm' })`
  const { run, approvals } = await first.execute({ implementation: { type: 'code', code } }, caller)
  await first.close()
  const elsewhere = await use({ taskGraph: { url: 'bolt://127.0.0.1:1', password: 'x' } })
  const [{ id }] = approvals as unknown as [{ id: string }]
  await elsewhere.decide(id, { answer: 'approved' }, caller, false)
  const context = { servers: ['metier'], run }
  await assert.rejects(elsewhere.resume(String(run), caller), { code: 'CONFIG_CHANGED', context })
  await elsewhere.close()
  const back = await use({})
  assert.equal((await back.resume(String(run), caller)).status, 'done')
})

test('a code that a tool does not list is an internal error, which says what it was', async (t) => {
  const [definition] = builtInTools
  for (const [code, expected] of [
    ['STORE_FULL', 'TOOL_INTERNAL_ERROR'],
    ['NEO4J_CONNECTION_ERROR', 'NEO4J_CONNECTION_ERROR'],
    ['CANCELLED', 'CANCELLED'],
  ] as const) {
    const run = () => Promise.reject(new AppError(code, 'Cannot go on: no room'))
    const error = await errorOf(open(t, {}, [{ ...definition!, run }]), 'create_mission', { name: 'm' })
    assert.equal(error?.code, expected)
    assert.match(error.message, /Cannot go on: no room$/)
  }
})

test('what is secret reaches the graph as its placeholder', async (t) => {
  const token = `sk-${'c'.repeat(24)}`
  const space = workspace(t, { config: { mcpServers: {}, record: { secrets: ['sk-[a-z]{20,}'] } } })
  const verbs = await openSpace(space)
  const code = `await tool('metier:create_mission', { name: 'of ${token}' })
    return (await tool('metier:list_missions', {})).missions[0].name`
  const answer = await verbs.execute({ implementation: { type: 'code', code } }, caller)
  assert.match(String(answer.result), /^of « ?secret:[0-9a-f]{32}»$/, JSON.stringify(answer))
})

type Place = { artifacts?: ArtifactsAddress; taskGraph?: Parameters<typeof openBuiltIn>[1]['taskGraph'] }

function open(t: TestContext, place: Place = {}, tools = builtInTools) {
  const home = temporaryFolder(t)
  mkdirSync(join(home, 'artifacts'))
  const { artifacts = { folder: join(home, 'artifacts') }, taskGraph = { file: join(home, 'tasks.db') } } = place
  const sandbox = { minTier: 'os', outbound: [] } as const
  const server = openBuiltIn(tools, { home, artifacts, taskGraph, resultText: () => '""', sandbox })
  t.after(() => server.close())
  return { ...server, home, folder: artifacts.folder }
}

type Server = ReturnType<typeof open>

async function errorOf({ tools, problemOf: problem, try: attempt }: Server, name: string, args: JsonObject) {
  const tool = tools.find((one) => one.name === name)!
  const refusal = problemOf(tool, args) ?? problem(tool, args)
  if (refusal !== null) return refusal
  const signal = new AbortController().signal
  const done = await attempt(tool, args, { signal, timeoutMs: 60_000, run: newId(), call: '1' })
  assert.equal(done.outcome, 'answered')
  return done.outcome === 'answered' && !done.ok ? done.error : null
}

const codeOf = async (...asked: Parameters<typeof errorOf>) => (await errorOf(...asked))?.code ?? 'ok'

/** An artifact whose bytes are changed behind the back of the store. */
async function tampered({ folder }: Server): Promise<string> {
  const content = (async function* () {
    yield Buffer.from('as it was')
  })()
  const input = { owner: newId(), name: 'a.txt', type: 'text/plain', bytes: 9, content }
  const { id, path } = await openArtifacts({ folder }).put(input)
  const file = readdirSync(join(folder, id)).find((name) => name === 'a.txt')!
  writeFileSync(join(folder, id, file), 'not as it')
  return path
}

/** A store that is nowhere. */
const away = (folder: string): ArtifactsAddress => {
  const place = { endpoint: 'http://127.0.0.1:1', region: 'us-east-1', bucket: 'none', prefix: '' }
  const credentials = { accessKeyId: 'a', secretAccessKey: 'not-to-be-seen' }
  return { folder, s3: { ...place, forcePathStyle: true, credentials, maxBytes: 1000 } }
}

/** What cannot be had for real here is thrown where the tool meets its store or its box. */
async function injectedInto(name: string, args: JsonObject, parts: (error: Error) => object, codes: ErrorCode[]) {
  const { run } = builtInTools.find((tool) => tool.name === name)!
  const call = { run: newId(), call: '1', signal: new AbortController().signal }
  for (const code of codes) {
    const error = code === 'TOOL_INTERNAL_ERROR' ? new TypeError('a bug') : new AppError(code, 'no')
    const given = parts(error) as Parameters<typeof run>[1]
    await assert.rejects(run(args, given, call), (thrown: Error) =>
      thrown instanceof AppError ? thrown.code === code : thrown === error,
    )
  }
}

const listedBy = (name: string) =>
  Object.keys(builtInTools.find((tool) => tool.name === name)!.documentation.errors).sort()

test('retrieve_artifact answers with each code that it lists, and with no other', async (t) => {
  const [server, gone] = [open(t), open(t, { artifacts: away(temporaryFolder(t)) })]
  const path = `artifacts/${newId()}/a.txt`
  const ask = (storagePath: Json, from = server) => codeOf(from, 'retrieve_artifact', { storagePath })
  assert.equal(await ask(path), 'ok')
  const found = [await ask('../x'), await ask(''), await ask(await tampered(server)), await ask(path, gone)]
  const injected: ErrorCode[] = ['S3_ACCESS_DENIED', 'TOOL_INTERNAL_ERROR']
  const parts = (error: Error) => ({ artifacts: { get: () => Promise.reject(error) } })
  await injectedInto('retrieve_artifact', { storagePath: path }, parts, injected)
  assert.deepEqual([...found, ...injected].sort(), listedBy('retrieve_artifact'))
  const { run } = builtInTools.find(({ name }) => name === 'retrieve_artifact')!
  const vanished = parts(new AppError('S3_ARTIFACT_NOT_FOUND', 'gone')) as unknown as Parameters<typeof run>[1]
  const call = { signal: new AbortController().signal }
  assert.deepEqual(await run({ storagePath: path }, vanished, call), { artifact: null })
})

test('execute_script_in_sandbox answers with each code that it lists, and with no other', {
  skip: whyNot('os'),
}, async (t) => {
  const [server, gone] = [open(t), open(t, { artifacts: away(temporaryFolder(t)) })]
  const script = (scriptContent: string, config: JsonObject = {}) => ({
    interpreter: 'bash',
    scriptContent,
    config: { tier: 'os', ...config },
  })
  const input = (path: string) => script('true', { inputArtifacts: { [path]: '/inputs/a' } })
  const ask = (args: JsonObject, from = server) => codeOf(from, 'execute_script_in_sandbox', args)
  const path = `artifacts/${newId()}/a.txt`
  assert.equal(await ask(script('exit 3')), 'ok', 'SANDBOX_SCRIPT_ERROR is never returned')
  const found = [
    await ask({ interpreter: 'bash' }),
    await ask(script('')),
    await ask({ ...script('true'), interpreter: 'ruby' }),
    await ask(script('true', { networkPolicy: 'OUTBOUND_LIMITED' })),
    await ask(input(path)),
    await ask(input(await tampered(server))),
    await ask(input(path), gone),
    await ask(script('sleep 60', { timeoutSeconds: 1 })),
    await ask(script('yes | head -c 300000000')),
  ]
  const injected: ErrorCode[] = [
    'S3_ACCESS_DENIED',
    'S3_UPLOAD_FAILED',
    'S3_SIZE_LIMIT_EXCEEDED',
    'STORE_FULL',
    'SANDBOX_SETUP_FAILED',
    'SANDBOX_TIER_DOWNGRADE',
    'SANDBOX_EXECUTION_FAILED',
    'TOOL_INTERNAL_ERROR',
  ]
  const parts = (error: Error) => ({ artifacts: {}, boxes: () => ({ run: () => Promise.reject(error) }) })
  await injectedInto('execute_script_in_sandbox', script('true'), parts, injected)
  assert.deepEqual([...found, ...injected].sort(), listedBy('execute_script_in_sandbox'))
})
