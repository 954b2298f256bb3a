/** Runs in the task graph: as missions that follow the record, and nothing waits for them. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { homePaths } from '#record'
import { caller, metier, openSpace, workspace } from '#test'

const dag = {
  intent: 'Two steps',
  implementation: {
    type: 'dag',
    tasks: [
      { id: 'make', tool: 'metier:create_mission', arguments: { name: 'made' } },
      {
        id: 'add',
        tool: 'metier:create_task_node',
        arguments: { parentNodeID: { $from: 'make', path: '/missionID' }, description: 'x' },
      },
      { id: 'broken', tool: 'metier:get_task_details', arguments: { taskID: 'x' }, dependsOn: ['add'] },
      { id: 'never', tool: 'metier:list_missions', dependsOn: ['broken'] },
    ],
  },
}

const code = `
const { missionID } = await tool('metier:create_mission', { name: 'with a file' })
const { artifactID } = await tool('metier:store_artifact', { ownerEntityID: missionID, artifactName: 'a.txt', contentType: 'text/plain', content: 'x' })
return artifactID`

/**
 * Everything that shows runs, in one order; positions of links depend on what else is in the file.
 */
function shownRuns(file: string, runs: readonly string[]): { nodes: object[]; edges: object[] } {
  const database = new DatabaseSync(file, { readOnly: true })
  const of = JSON.stringify(runs)
  const those = 'run IN (SELECT value FROM json_each(?))'
  const nodes = database.prepare(`SELECT * FROM node WHERE ${those} ORDER BY id`).all(of)
  const edges = database.prepare(
    `SELECT source, type, target, edge.created FROM edge JOIN node ON node.id = source WHERE ${those} ORDER BY 1, 2, 3`,
  )
  const found = JSON.parse(JSON.stringify({ nodes, edges: edges.all(of) }))
  database.close()
  return found
}

test('a run is a mission with a task for each call or task of its DAG, never ready, and built again the same', async (t) => {
  const space = workspace(t, { config: { mcpServers: {}, taskGraph: { project: true } } })
  const verbs = await openSpace(space)
  const ran = await verbs.execute(dag, caller)
  await verbs.close()
  const other = (await metier(space, ['execute', '--code', '-', '--json'], { input: code })).json
  const { missions } = (await metier(space, ['missions', '--runs', '--json'])).json
  assert.equal(missions.length, 2, JSON.stringify(ran))
  const shown = (await metier(space, ['missions', 'show', missions[0].id, '--json'])).json
  assert.deepEqual(
    [shown.mission.status, shown.mission.name, shown.mission.run],
    ['FAILED', 'Two steps', missions[0].id],
  )
  const statuses = Object.fromEntries(shown.tasks.map(({ name, status }: Record<string, string>) => [name, status]))
  assert.deepEqual(statuses, { make: 'DONE', add: 'DONE', broken: 'FAILED', never: 'CANCELED' })
  const produced = (await metier(space, ['missions', 'show', other.run, '--json'])).json.tasks
  assert.deepEqual(
    produced.map(({ name }: { name: string }) => name),
    ['metier:create_mission', 'metier:store_artifact'],
  )
  assert.deepEqual(produced[1].producedArtifactIDs, [other.result])
  const made = (await metier(space, ['missions', '--json'])).json.missions.map(({ name }: { name: string }) => name)
  assert.deepEqual(made, ['made', 'with a file'])
  const ready = (await metier(space, ['tasks', 'ready', '--json'])).json.tasks
  assert.deepEqual(
    ready.map(({ description }: { description: string }) => description),
    ['x'],
  )
  const change = { missionID: missions[0].id, newStatus: 'DONE' }
  const refused = await metier(space, ['call', 'metier:update_mission_status', JSON.stringify(change), '--json'])
  assert.equal(refused.json.error.code, 'PERMISSION_DENIED')
  const content = { artifactName: 'a', contentType: 'text/plain', content: 'x' }
  const store = JSON.stringify({ ownerEntityID: produced[0].id, ...content })
  const linked = await metier(space, ['call', 'metier:store_artifact', store, '--json'])
  assert.equal(linked.json.error?.code, 'PERMISSION_DENIED', 'a file cannot be hung on a task that shows a run')

  const file = join(homePaths(space.home).tasks)
  await metier(space, ['call', 'metier:list_missions', '{}'])
  const runs = missions.map(({ id }: { id: string }) => id)
  const before = shownRuns(file, runs)
  const types = new Set(before.edges.map((edge) => (edge as { type: string }).type))
  assert.deepEqual([...types].sort(), ['DEPENDS_ON', 'HAS_ROOT_TASK', 'PRODUCES_ARTIFACT'])
  const database = new DatabaseSync(file)
  database.exec(
    'PRAGMA foreign_keys = OFF; DELETE FROM edge WHERE source IN (SELECT id FROM node WHERE run IS NOT NULL)',
  )
  database.exec('DELETE FROM node WHERE run IS NOT NULL; DELETE FROM projection')
  database.close()
  assert.match((await metier(space, ['doctor'])).stdout, /runs are shown \d+ events behind the record/)
  await metier(space, ['call', 'metier:list_missions', '{"limit":1}'])
  assert.deepEqual(shownRuns(file, runs), before)
})
