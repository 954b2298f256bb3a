/**
 * A Neo4j that is killed in the middle of writes: what was acknowledged is there, what was not is a
 * typed error and whole or not there, and the same client goes on when the server is back.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import neo4j from 'neo4j-driver-lite'
import { AppError, newId } from '#model'
import {
  addRelationship,
  type Caller,
  createMission,
  createTask,
  getMission,
  openGraphStore,
  openTaskGraph,
  type TaskGraph,
} from '#tasks'
import { temporaryFolder } from '#test'
import { ownNeo4j, whyNoNeo4j } from '#test/services'

const kills = process.env.LONG === '1' ? 20 : 5
const writers = 4

type Outcomes = {
  acknowledged: { missionID: string; taskIDs: string[]; links: [string, string][] }
  failed: { caller: Caller; description: string }[]
  codes: Set<string>
}

/** One task after the other below one mission, each depending on the one before. */
async function write(graph: TaskGraph, missionID: string, outcomes: Outcomes, isOver: () => boolean): Promise<void> {
  const run = newId()
  let number = 0
  const next = (): Caller => ({ run, call: String(++number), signal: AbortSignal.timeout(600_000) })
  const { taskIDs, links } = outcomes.acknowledged
  let last: string | null = null
  while (!isOver()) {
    const caller = next()
    const description = `${caller.run}/${caller.call}`
    try {
      const { taskID } = await createTask(graph, { parentNodeID: missionID, description }, caller)
      taskIDs.push(taskID)
      if (last !== null) {
        const link = { fromNodeID: taskID, toNodeID: last, relationshipType: 'DEPENDS_ON' }
        await addRelationship(graph, link, next())
        links.push([taskID, last])
      }
      last = taskID
    } catch (error) {
      assert.ok(error instanceof AppError, String(error))
      outcomes.codes.add(error.code)
      outcomes.failed.push({ caller, description })
    }
  }
}

test(`acknowledged writes survive ${kills} times kill -9 of Neo4j, all else is a typed error, and writing goes on by itself`, {
  skip: whyNoNeo4j(),
}, async (t) => {
  const server = ownNeo4j(temporaryFolder(t, () => server.kill()))
  await server.start()
  const store = await openGraphStore(server.address())
  t.after(() => store.close())
  const graph = openTaskGraph(store)
  const first = { run: newId(), call: '1', signal: AbortSignal.timeout(600_000) }
  const { missionID } = await createMission(graph, { name: 'killed' }, first)
  const outcomes: Outcomes = {
    acknowledged: { missionID, taskIDs: [], links: [] },
    failed: [],
    codes: new Set(),
  }
  const { taskIDs } = outcomes.acknowledged
  let isOver = false
  const writing = Array.from({ length: writers }, () => write(graph, missionID, outcomes, () => isOver))
  for (let round = 0; round < kills; round++) {
    await progress(taskIDs, 2)
    await sleep(50 * (round % 5))
    await server.kill()
    // Longer than the driver tries again: some calls fail, others ride over it.
    await sleep(round === 0 ? 8000 : 0)
    await server.start()
    await progress(taskIDs, 1)
  }
  isOver = true
  await Promise.all(writing)
  t.diagnostic(`${kills} kills: ${taskIDs.length} tasks, ${outcomes.failed.length} failed`)
  await checkAll(graph, outcomes)
  assert.ok(outcomes.failed.length > 0, 'no kill met a write')
  for (const code of outcomes.codes) assert.match(code, /^NEO4J_(?:CONNECTION|TRANSACTION)_ERROR$/)
  await checkNewer(server.address())
})

/** Here, because no other test uses this server: a database of a newer version is left alone. */
async function checkNewer(address: ReturnType<ReturnType<typeof ownNeo4j>['address']>): Promise<void> {
  const driver = neo4j.driver(address.url, { scheme: 'basic', principal: address.user, credentials: address.password })
  await driver.executeQuery("MATCH (v:MetierLock {name: 'schema'}) SET v.version = 99")
  const store = await openGraphStore(address)
  const call = { run: newId(), call: '1', signal: AbortSignal.timeout(60_000) }
  const refused = createMission(openTaskGraph(store), { name: 'never' }, call)
  await assert.rejects(refused, { code: 'CONFIG_INVALID', message: /has version 99 and this program reads up to/ })
  const { records } = await driver.executeQuery("MATCH (m:Mission {name: 'never'}) RETURN m")
  assert.deepEqual(records, [])
  await store.close()
  await driver.close()
}

/** So many more tasks were acknowledged. */
async function progress(taskIDs: readonly string[], more: number): Promise<void> {
  const before = taskIDs.length
  for (let tries = 0; taskIDs.length < before + more; tries++) {
    assert.ok(tries < 6000, 'nothing is written any more')
    await sleep(50)
  }
}

/** A repeated try of what failed answers, and nothing is there twice. */
async function checkAll(graph: TaskGraph, { acknowledged, failed }: Outcomes): Promise<void> {
  const { missionID, taskIDs, links } = acknowledged
  const signal = AbortSignal.timeout(600_000)
  const tasksOf = async () => (await getMission(graph, { missionID }, { signal }))!.tasks
  const tasks = new Map((await tasksOf()).map((task) => [task.id, task]))
  for (const id of taskIDs) assert.ok(tasks.has(id), `${id} was acknowledged and is gone`)
  for (const [from, to] of links) assert.ok(tasks.get(from)?.dependencyTaskIDs?.includes(to), `${from} lost its link`)
  for (const { id, parentID } of tasks.values()) assert.equal(parentID, missionID, `${id} is half there`)
  const again = failed.filter(
    ({ description }) => ![...taskIDs].some((id) => tasks.get(id)?.description === description),
  )
  for (const { caller, description } of again)
    await createTask(graph, { parentNodeID: missionID, description }, { ...caller, signal })
  const descriptions = (await tasksOf()).map(({ description }) => description)
  assert.equal(new Set(descriptions).size, descriptions.length, 'something was created twice')
}
