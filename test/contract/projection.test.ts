/**
 * The projection of runs gives the same graph in a file and in a real Neo4j, at once or bit by bit.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { newId } from '#model'
import {
  type GraphAddress,
  getMission,
  openGraphStore,
  openProjection,
  openTaskGraph,
  type PlannedTask,
  projectionLag,
} from '#tasks'
import {
  agentProject,
  caller,
  lastAnswer,
  openSpace,
  runAgent,
  scriptAnswer,
  type TestVerbs,
  teach,
  temporaryFolder,
  whyNot,
  workspace,
} from '#test'
import { neo4jAddress, whyNoNeo4j } from '#test/services'

const program = (fails: boolean) => `
const { missionID } = await tool('metier:create_mission', { name: 'one' })
await Promise.all(['a', 'b'].map((description) => tool('metier:create_task_node', { parentNodeID: missionID, description })))
${fails ? `await tool('metier:create_task_node', { parentNodeID: 'x', description: 'x' })` : ''}
return 1`

const look = () => ({ signal: AbortSignal.timeout(30_000) })

/**
 * A record of three runs, projected by two readers in turn while it grows; then again from nothing.
 */
async function projectedTwice(t: TestContext, address: GraphAddress) {
  const verbs = await openSpace(workspace(t, { config: { mcpServers: {} } }))
  const { store: record } = verbs
  const store = await openGraphStore(address)
  t.after(() => store.close())
  const graph = openTaskGraph(store)
  const source = { value: record.value, plannedTasks: (): PlannedTask[] => [] }
  const home = newId()
  const open = () => openProjection({ store, record, source, home })
  const [one, two] = [open(), open()]
  const runs: string[] = []
  for (const [index, reader] of [one, two, one].entries()) {
    const plan = { implementation: { type: 'code', code: program(index === 1) } }
    runs.push(String((await verbs.execute(plan, caller)).run))
    await Promise.all([reader.catchUp(look().signal), index === 2 ? two.catchUp(look().signal) : 0])
  }
  const shown = () => Promise.all(runs.map((missionID) => getMission(graph, { missionID }, look())))
  const before = await shown()
  assert.deepEqual(await projectionLag({ store, record, home }, look().signal), { events: 0, since: null })
  await store.write(async (writer) => {
    await writer.removeProjected(home)
    await writer.setProjected(home, { seq: 0, digest: '' })
  }, look().signal)
  assert.deepEqual(await shown(), [null, null, null])
  await open().catchUp(look().signal)
  assert.deepEqual(await shown(), before, 'from nothing it is the same')
  await record.purge(runs[0] as never, { who: 'a test', from: 'test' })
  await open().catchUp(look().signal)
  assert.deepEqual(await shown(), [null, ...before.slice(1)], 'what was purged is gone')
  return before
}

function check(missions: Awaited<ReturnType<typeof projectedTwice>>): void {
  assert.deepEqual(
    missions.map((one) => [one?.mission.status, one?.tasks.map(({ status }) => status)]),
    [
      ['DONE', ['DONE', 'DONE', 'DONE']],
      ['FAILED', ['DONE', 'DONE', 'DONE', 'FAILED']],
      ['DONE', ['DONE', 'DONE', 'DONE']],
    ],
  )
}

test('runs in SQLite: bit by bit, at once and from nothing the same', async (t) => {
  check(await projectedTwice(t, { file: join(temporaryFolder(t), 'tasks.db') }))
})

test('runs in Neo4j: bit by bit, at once and from nothing the same', { skip: whyNoNeo4j() }, async (t) => {
  check(await projectedTwice(t, neo4jAddress()))
})

/** A task of a graph that calls a capability, and one with a program of its own. */
const nested = {
  type: 'dag',
  tasks: [
    { id: 'named', type: 'capability', tool: 'cap:name_it', arguments: {} },
    {
      id: 'own',
      type: 'code_execution',
      code: `return (await tool('metier:list_missions', { limit: 1 })).next`,
      dependsOn: ['named'],
    },
  ],
}
const naming = `return (await tool('metier:create_mission', { name: 'of a capability' })).missionID`

/** One run of each kind: nested, one that fails, its fork with other arguments, an agent's. */
async function runsOfEachKind(verbs: TestVerbs, agentRun: string): Promise<string[]> {
  await teach(verbs.store, 'name_it', naming)
  const inside = await verbs.execute({ implementation: nested }, caller)
  assert.equal(inside.status, 'done', JSON.stringify(inside))
  const failed = await verbs.execute({ implementation: { type: 'code', code: program(true) } }, caller)
  assert.equal(failed.status, 'failed')
  const forked = await verbs.fork(String(failed.run), 1, { name: 'forked' }, caller)
  const code = `return (await cap.name_it({})).length`
  const flat = await verbs.execute({ implementation: { type: 'code', code } }, caller)
  return [String(inside.run), String(failed.run), String(forked.run), String(flat.run), agentRun]
}

type Shown = Awaited<ReturnType<typeof getMission>>
const outline = (shown: Shown) => [
  shown?.mission.status,
  ...shown!.tasks.map(({ name, description, status }) => {
    const call = /^Call ([\d.]+) of /.exec(description)?.[1]
    return `${call} ${name?.replace(/^model:.*/, 'the model')} ${status}`
  }),
]

const failing = [
  'FAILED',
  '1 metier:create_mission DONE',
  '2 metier:create_task_node DONE',
  '3 metier:create_task_node DONE',
  '4 metier:create_task_node FAILED',
]
const outlines = [
  [
    'DONE',
    '1 cap:name_it@1 DONE',
    '1.1 metier:create_mission DONE',
    '2 metier:program DONE',
    '2.1 metier:list_missions DONE',
  ],
  failing,
  failing,
  ['DONE', '1 cap:name_it@1 DONE', '1.1 metier:create_mission DONE'],
  ['DONE', '1 the model DONE', '2 workspace:write DONE', '3 workspace:run DONE', '4 the model DONE'],
]

async function eachKindTwice(t: TestContext, address: GraphAddress): Promise<void> {
  const space = agentProject(t, [scriptAnswer('one.py', 'print(1)\n'), lastAnswer('It ran.')])
  const session = await runAgent(space, 'Run it')
  assert.equal(session.code, 0, session.stdout + session.stderr)
  const verbs = await openSpace(space)
  const [{ run: agentRun }] = verbs.runs({ limit: 1 }) as [{ run: string }]
  const runs = await runsOfEachKind(verbs, agentRun)
  const store = await openGraphStore(address)
  t.after(() => store.close())
  const [graph, home] = [openTaskGraph(store), newId()]
  const source = { value: verbs.store.value, plannedTasks: (): PlannedTask[] => [] }
  const again = () => openProjection({ store, record: verbs.store, source, home }).catchUp(look().signal)
  const shown = () => Promise.all(runs.map((missionID) => getMission(graph, { missionID }, look())))
  await again()
  const before = await shown()
  // Tasks of one millisecond are listed by id.
  assert.deepEqual(
    before.map((one) => outline(one).sort()),
    outlines.map((one) => one.toSorted()),
  )
  await store.write(async (writer) => {
    await writer.removeProjected(home)
    await writer.setProjected(home, { seq: 0, digest: '' })
  }, look().signal)
  await again()
  assert.deepEqual(await shown(), before, 'from nothing it is the same')
}

for (const [name, address, skip] of [
  ['SQLite', (t: TestContext) => ({ file: join(temporaryFolder(t), 'tasks.db') }), whyNot('os')],
  ['Neo4j', neo4jAddress, whyNot('os') || whyNoNeo4j()],
] as const)
  test(`runs in ${name}: nested, failed, forked and of an agent, from nothing the same`, { skip }, (t) =>
    eachKindTwice(t, address(t)),
  )

test('a graph that is away delays no call and no end', async (t) => {
  const taskGraph = { url: 'bolt://127.0.0.1:1', password: 'x', project: true }
  const verbs = await openSpace(workspace(t, { config: { mcpServers: {}, taskGraph } }))
  const plan = { implementation: { type: 'code', code: 'await sleep(600); return 1' } }
  const started = performance.now()
  assert.equal((await verbs.execute(plan, caller)).status, 'done')
  await verbs.close()
  const ms = performance.now() - started
  assert.ok(ms < 4000, `${ms} ms`)
})
