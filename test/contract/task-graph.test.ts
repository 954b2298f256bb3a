/** The task graph keeps its contract in a file and in a real Neo4j. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { newId } from '#model'
import { createMission, type GraphAddress, listMissions, openGraphStore, openTaskGraph } from '#tasks'
import { root, temporaryFolder } from '#test'
import { neo4jAddress, whyNoNeo4j } from '#test/services'
import { taskGraphContract } from './task-graph.ts'

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

test('a database that is not there is a typed error that may be tried again', async (t) => {
  const address = { url: 'bolt://127.0.0.1:1', user: 'neo4j', password: 'x', database: 'neo4j' }
  const store = await openGraphStore(address)
  t.after(() => store.close())
  await assert.rejects(createMission(openTaskGraph(store), { name: 'm' }, call()), {
    code: 'NEO4J_CONNECTION_ERROR',
    fate: 'retry',
  })
})

test('a wrong password is told as such', { skip: whyNoNeo4j() }, async (t) => {
  const store = await openGraphStore({ ...neo4jAddress(), password: 'not the password' })
  t.after(() => store.close())
  await assert.rejects(createMission(openTaskGraph(store), { name: 'm' }, call()), { code: 'PERMISSION_DENIED' })
})
