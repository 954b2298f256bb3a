/** The task graph keeps its contract in a file and in a real Neo4j. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { newId } from '#model'
import {
  createMission,
  createTask,
  ensureNode,
  type GraphAddress,
  getTask,
  listMissions,
  listTasks,
  openGraphStore,
  openTaskGraph,
} from '#tasks'
import { root, temporaryFolder } from '#test'
import { neo4jAddress, whyNoNeo4j } from '#test/services'
import { taskGraphContract } from './task-graph.ts'
import { type Moment, writes } from './task-graph-killed.ts'

async function stores(t: TestContext, address: GraphAddress) {
  const open = async () => {
    const store = await openGraphStore(address)
    t.after(() => store.close())
    return store
  }
  return { store: await open(), another: open }
}

taskGraphContract('SQLite', (t) => stores(t, { file: join(temporaryFolder(t), 'tasks.db') }))

taskGraphContract('Neo4j', (t) => stores(t, neo4jAddress()), { skip: whyNoNeo4j() })

const call = () => ({ run: newId(), call: '1', signal: AbortSignal.timeout(30_000) })

test('a file of a newer version is left alone, and says so', async (t) => {
  const file = join(temporaryFolder(t), 'tasks.db')
  const database = new DatabaseSync(file)
  database.exec('PRAGMA user_version = 99')
  database.close()
  const store = await openGraphStore({ file })
  t.after(() => store.close())
  await assert.rejects(createMission(openTaskGraph(store), { name: 'm' }, call()), /version 99/)
})

test('acknowledged writes survive kill -9 of the process that made them', async (t) => {
  const file = join(temporaryFolder(t), 'tasks.db')
  const acknowledged: string[] = []
  for (let round = 0; round < 5; round++) {
    const child = spawn(process.execPath, [join(root, 'test', 'contract', 'task-graph-writer.ts'), file])
    child.stderr.pipe(process.stderr)
    const ended = new Promise((resolve) => child.on('close', resolve))
    let text = ''
    for await (const chunk of child.stdout) {
      text += chunk
      if (text.split('\n').length > 20 + round) child.kill('SIGKILL')
    }
    await ended
    acknowledged.push(...text.split('\n').slice(0, -1))
  }
  const store = await openGraphStore({ file })
  t.after(() => store.close())
  const { missions } = await listMissions(openTaskGraph(store), { limit: 500 }, call())
  const found = new Set(missions.map(({ id }) => id))
  assert.ok(acknowledged.length >= 100)
  assert.deepEqual(
    acknowledged.filter((id) => !found.has(id)),
    [],
  )
})

test('a wrong password is told as such', { skip: whyNoNeo4j() }, async (t) => {
  const store = await openGraphStore({ ...neo4jAddress(), password: 'not the password' })
  t.after(() => store.close())
  await assert.rejects(createMission(openTaskGraph(store), { name: 'm' }, call()), { code: 'PERMISSION_DENIED' })
})

const killer = join(import.meta.dirname, 'task-graph-killed.ts')

/** One write in a process that dies at that moment of it. */
async function dieWriting(address: GraphAddress, what: string, given: object, run: string, moment: Moment) {
  const words = [killer, JSON.stringify(address), what, JSON.stringify(given), run, moment]
  const child = spawn(process.execPath, words, { env: { ...process.env, NODE_TEST_CONTEXT: undefined } })
  child.stderr.pipe(process.stderr)
  await once(child, 'close')
  assert.equal(child.signalCode, 'SIGKILL', `${what} ${moment}`)
}

/** Every write that must not be made twice, killed and tried again. */
async function triedAgain(t: TestContext, address: GraphAddress, moment: Moment): Promise<void> {
  const store = await openGraphStore(address)
  t.after(() => store.close())
  const graph = openTaskGraph(store)
  const { missionID } = await createMission(graph, { name: moment }, call())
  const twice = async (what: keyof typeof writes, given: object) => {
    const run = newId()
    await dieWriting(address, what, given, run, moment)
    const caller = { ...call(), run }
    const answer = await writes[what](graph, given, caller)
    assert.deepEqual(await writes[what](graph, given, caller), answer)
    return answer
  }
  const { taskID } = (await twice('createTask', { parentNodeID: missionID, description: 'once' })) as { taskID: string }
  const other = (await createTask(graph, { parentNodeID: missionID, description: 'later' }, call())).taskID
  const tasks = async () => (await listTasks(graph, { missionID }, call())).tasks
  assert.deepEqual(
    (await tasks()).map(({ id }) => id),
    [taskID, other],
  )
  const link = { fromNodeID: other, toNodeID: taskID, relationshipType: 'DEPENDS_ON' }
  assert.deepEqual(await twice('addRelationship', link), { created: true }, 'as it was answered the first time')
  assert.deepEqual((await getTask(graph, { taskID: other }, call())).task?.dependencyTaskIDs, [taskID])
  const { nodeID: agentID } = await ensureNode(graph, { kind: 'Agent', name: newId() }, call())
  const claimed = (await twice('claimReadyTask', { agentID, missionID })) as { task: { id: string } | null }
  assert.equal(claimed.task?.id, taskID)
  assert.deepEqual(
    (await tasks()).map(({ status }) => status),
    ['IN_PROGRESS', 'QUEUED'],
  )
}

for (const moment of ['before the commit', 'before the answer'] as const) {
  test(`SQLite: a write whose process was killed ${moment} is made once when it is tried again`, (t) =>
    triedAgain(t, { file: join(temporaryFolder(t), 'tasks.db') }, moment))
  test(
    `Neo4j: a write whose process was killed ${moment} is made once when it is tried again`,
    {
      skip: whyNoNeo4j(),
    },
    (t) => triedAgain(t, neo4jAddress(), moment),
  )
}
