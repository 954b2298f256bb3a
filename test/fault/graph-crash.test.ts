/**
 * A program that writes the task graph, in a process that is killed again and again: resumed, it
 * has created nothing twice.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { metier, openSpace, type Workspace, workspace } from '#test'
import { neo4jAddress, whyNoNeo4j } from '#test/services'

const program = `
const { missionID } = await tool('metier:create_mission', { name: args.name })
const add = async (description) => (await tool('metier:create_task_node', { parentNodeID: missionID, description })).taskID
const [one, two, three] = await Promise.all(['one', 'two', 'three'].map(add))
await tool('metier:add_relationship', { fromNodeID: two, toNodeID: one, relationshipType: 'DEPENDS_ON' })
await tool('metier:add_relationship', { fromNodeID: three, toNodeID: two, relationshipType: 'DEPENDS_ON' })
const { nodeID: agentID } = await tool('metier:ensure_node', { kind: 'Agent', name: args.name })
const order = []
for (let step = 0; step < 3; step++) {
  const { task } = await tool('metier:claim_ready_task', { agentID, missionID })
  order.push(task.description)
  await tool('metier:update_task_status', { taskID: task.id, newStatus: 'DONE', expectedStatus: 'IN_PROGRESS' })
}
const { task } = await tool('metier:claim_ready_task', { agentID, missionID })
return { missionID, order, rest: task }`

/** Kills at the n-th event that matters, resumes, kills again, until the run is through. */
async function throughKills(
  space: Workspace,
  name: string,
  everyEvents: number,
): Promise<{ result: unknown; kills: number }> {
  const start = ['execute', '--code', '-', '--args', JSON.stringify({ name }), '--json']
  let seen = 0
  let kills = 0
  const verbs = await openSpace(space)
  const isFurther = () => {
    const [newest] = verbs.runs() as { run: string }[]
    const events = newest === undefined ? 0 : verbs.lines(newest.run).length
    return events >= seen + everyEvents
  }
  let ran = await metier(space, start, { input: program, killWhen: isFurther })
  for (; ran.killed; kills++) {
    const [{ run }] = verbs.runs() as [{ run: string }]
    seen = verbs.lines(run).length
    ran = await metier(space, ['run', 'resume', run, '--json'], { killWhen: isFurther })
  }
  await verbs.close()
  assert.equal(ran.json?.status, 'done', ran.stdout + ran.stderr)
  return { result: ran.json.result, kills }
}

const everything = process.env.LONG === '1'

test('a program that builds and works off a graph in SQLite, killed all along, creates nothing twice', async (t) => {
  for (const everyEvents of everything ? [4, 5, 6, 7, 8] : [14]) {
    const space = workspace(t, { config: { mcpServers: {} } })
    const { result, kills } = await throughKills(space, `run ${everyEvents}`, everyEvents)
    assert.ok(kills >= 2, `it was killed ${kills} times`)
    assert.partialDeepStrictEqual(result, { order: ['one', 'two', 'three'], rest: null })
    const database = new DatabaseSync(join(space.home, 'tasks.db'), { readOnly: true })
    const count = (sql: string) => (database.prepare(sql).get() as { count: number }).count
    assert.equal(count(`SELECT count(*) AS count FROM node WHERE kind = 'Mission'`), 1)
    assert.equal(count(`SELECT count(*) AS count FROM node WHERE kind = 'Task' AND status = 'DONE'`), 3)
    assert.equal(count(`SELECT count(*) AS count FROM edge WHERE type = 'DEPENDS_ON'`), 2)
    assert.equal(count(`SELECT count(*) AS count FROM edge WHERE type = 'ASSIGNED_TO'`), 3)
    database.close()
    assert.equal((await metier(space, ['audit', 'verify', '--json'])).json.ok, true)
  }
})

test('the same in a real Neo4j', { skip: whyNoNeo4j() }, async (t) => {
  const space = workspace(t, { config: { mcpServers: {}, taskGraph: neo4jAddress() } })
  const { result, kills } = await throughKills(space, `neo4j ${space.folder}`, everything ? 4 : 16)
  assert.ok(kills >= 2, `it was killed ${kills} times`)
  assert.partialDeepStrictEqual(result, { order: ['one', 'two', 'three'], rest: null })
  const { missionID } = result as { missionID: string }
  const { tasks } = (await metier(space, ['missions', 'show', missionID, '--json'])).json
  assert.deepEqual(
    (tasks as { status: string }[]).map(({ status }) => status),
    ['DONE', 'DONE', 'DONE'],
  )
})
