/** What people ask for in their own words leads to the built-in tool that does it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { caller, openSpace, workspace } from '#test'

const asked: Record<string, string> = {
  'start a new mission': 'create_mission',
  'show me all missions': 'list_missions',
  'close a mission': 'update_mission_status',
  'add a task to a mission': 'create_task_node',
  'details of a task': 'get_task_details',
  'which tasks are there': 'list_tasks',
  'mark a task as done': 'update_task_status',
  'change the priority of a task': 'update_task',
  'make one task depend on another': 'add_relationship',
  'remove a dependency between two tasks': 'remove_relationship',
  'are all dependencies of this task completed': 'check_task_dependencies_completion',
  'what can I work on next': 'claim_ready_task',
  'register an agent by name': 'ensure_node',
  'record that the result was checked': 'record_validation',
  'record why a task failed': 'record_failure',
  'store a file for a task': 'store_artifact',
  'read a stored file': 'retrieve_artifact',
  'what is known of an artifact': 'get_artifact_info',
  'run a bash script safely': 'execute_script_in_sandbox',
}

test('discover() finds each built-in tool by what people say, first and clearly for most, among three for all', async (t) => {
  const verbs = await openSpace(workspace(t, { config: { mcpServers: {} } }))
  const places: Record<string, number> = {}
  const unsure: string[] = []
  for (const [intent, name] of Object.entries(asked)) {
    const { status, results } = await verbs.discover({ intent, limit: 10 }, caller)
    if (status !== 'found') unsure.push(intent)
    places[intent] = (results as { id: string }[]).findIndex(({ id }) => id === `metier:${name}`) + 1
  }
  const missed = Object.entries(places).filter(([, place]) => place === 0 || place > 3)
  assert.deepEqual(missed, [], JSON.stringify(places))
  const first = Object.values(places).filter((place) => place === 1).length
  assert.ok(first >= 0.8 * Object.keys(asked).length, JSON.stringify(places))
  assert.ok(unsure.length <= 0.2 * Object.keys(asked).length, unsure.join(', '))
})
