/** Missions and tasks as a person sees them, made by a program and looked at by another process. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { metier, workspace } from '#test'

const program = `
const { missionID } = await tool('metier:create_mission', { name: 'Release' })
const add = async (parentNodeID, description) =>
  (await tool('metier:create_task_node', { parentNodeID, description })).taskID
const analysis = await add(missionID, 'Analyse the logs')
const report = await add(missionID, 'Write the report')
const figures = await add(report, 'Draw the figures')
await tool('metier:add_relationship', { fromNodeID: report, toNodeID: analysis, relationshipType: 'DEPENDS_ON' })
await tool('metier:update_task_status', { taskID: analysis, newStatus: 'IN_PROGRESS' })
return { missionID, analysis, report, figures }`

test('missions and tasks show the graph as lists, as a tree and one by one', async (t) => {
  const space = workspace(t, { config: { mcpServers: {} } })
  const empty = await metier(space, ['missions'])
  assert.deepEqual([empty.code, empty.stdout.startsWith('No mission is there yet')], [0, true])
  const { json } = await metier(space, ['execute', '--code', '-', '--json'], { input: program })
  const { missionID, analysis, report, figures } = json.result as Record<string, string>

  const [mission] = (await metier(space, ['missions', '--status', 'ACTIVE', '--json'])).json.missions
  assert.deepEqual([mission.id, mission.tasks], [missionID, { IN_PROGRESS: 1, QUEUED: 2 }])
  const tree = (await metier(space, ['missions', 'show', missionID!.slice(0, 8)])).stdout.split('\n')
  assert.match(tree[1]!, /^├─ … IN_PROGRESS {2}Analyse the logs/)
  assert.match(tree[2]!, new RegExp(`^└─ · QUEUED {2}Write the report.* after ${analysis!.slice(0, 18)}`))
  assert.match(tree[3]!, /^ {3}└─ · QUEUED {2}Draw the figures/)

  const parent = { fromNodeID: missionID, toNodeID: report, relationshipType: 'HAS_ROOT_TASK' }
  await metier(space, ['call', 'metier:remove_relationship', JSON.stringify(parent)])
  const orphaned = (await metier(space, ['missions', 'show', missionID!])).stdout.split('\n')
  assert.deepEqual(orphaned, tree, 'a task without a parent is shown too')

  const ids = async (words: string[]) =>
    ((await metier(space, [...words, '--json'])).json.tasks as { id: string }[]).map(({ id }) => id)
  assert.deepEqual(await ids(['tasks']), [analysis, report, figures])
  assert.deepEqual(await ids(['tasks', 'ready', '--mission', missionID!.slice(0, 10)]), [figures])
  assert.deepEqual(await ids(['tasks', '--status', 'IN_PROGRESS']), [analysis])
  const { task } = (await metier(space, ['tasks', 'show', report!, '--json'])).json
  assert.deepEqual([task.temporalWorkflowID, task.dependencyTaskIDs], [json.run, [analysis]])
  assert.match((await metier(space, ['tasks', 'show', '@last'])).stdout, /Draw the figures/)
})

test('doctor says where the task graph is, and what to do where it cannot be reached', async (t) => {
  const graphCheck = async (config: object) => {
    const space = workspace(t, { config: { mcpServers: {}, ...config } })
    const { json, stdout } = await metier(space, ['doctor', '--json'])
    assert.ok(!stdout.includes('not-to-be-seen'))
    return json.checks.find(({ name }: { name: string }) => name === 'task graph')
  }
  assert.deepEqual(await graphCheck({}), { name: 'task graph', ok: true, detail: 'empty, in the home' })
  const away = await graphCheck({ taskGraph: { url: 'bolt://127.0.0.1:1', password: 'not-to-be-seen' } })
  assert.equal(away.ok, false)
  assert.match(away.detail, /^Cannot reach the task graph \(bolt:\/\/127\.0\.0\.1:1\): /)
  assert.match(away.fix, /"taskGraph" in the configuration/)
})

test('an id that is no mission or task of this home is refused, and so is a status that is none', async (t) => {
  const space = workspace(t, { config: { mcpServers: {} } })
  const nobody = '00000000-0000-4000-8000-000000000000'
  const absent = await metier(space, ['missions', 'show', nobody])
  assert.equal(absent.code, 1)
  assert.match(absent.stderr, /NEO4J_NODE_NOT_FOUND Cannot show the mission .* "metier missions" lists them/)
  const status = await metier(space, ['tasks', '--status', 'OPEN', '--json'])
  assert.deepEqual([status.code, status.json.error.context.allowed_values.length], [1, 7])
})
