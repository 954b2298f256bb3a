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
import { caller, openSpace, temporaryFolder, workspace } from '#test'
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
