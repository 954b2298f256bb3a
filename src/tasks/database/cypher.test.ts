/** What is asked of one mission or one node is found by an index, however many others there are. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import neo4j, { type Plan } from 'neo4j-driver-lite'
import { newId } from '#model'
import { neo4jAddress, whyNoNeo4j } from '#test/services'
import * as cypher from './cypher.ts'
import { openNeo4jGraph } from './neo4j-store.ts'

const asked = { missionID: newId(), status: null, capabilities: [], runs: true, limit: 10, offset: 0 }

const statements: Record<string, [statement: string, parameters: object]> = {
  'one node': [cypher.nodeById, { id: newId() }],
  'links of several nodes': [cypher.linksOf, { ids: [newId()] }],
  'tasks of a mission': [cypher.tasksOfMission, asked],
  'ready tasks of a mission': [cypher.readyTasksOfMission, asked],
  'counts of missions': [cypher.taskCounts, { missionIDs: [newId()] }],
  'a claim of a receipt': [cypher.claimReceipt, { key: newId() }],
  'a lock on nodes': [cypher.lockNodes, { ids: [newId()] }],
}

const operators = (plan: Plan): string[] => [plan.operatorType, ...plan.children.flatMap(operators)]

test('every statement about one mission or node begins at an index, none with all of its kind', {
  skip: whyNoNeo4j(),
}, async () => {
  const { url, user, password, database } = neo4jAddress()
  const store = openNeo4jGraph({ url, user, password, database })
  await store.read((reader) => reader.node(newId()), AbortSignal.timeout(60_000)) // makes the indexes
  await store.close()
  const driver = neo4j.driver(url, { scheme: 'basic', principal: user, credentials: password })
  await driver.executeQuery('CALL db.awaitIndexes(60)')
  for (const [name, [statement, parameters]] of Object.entries(statements)) {
    const { summary } = await driver.executeQuery(`EXPLAIN ${statement}`, parameters)
    const used = operators(summary.plan as Plan)
    assert.ok(
      used.some((operator) => operator.includes('IndexSeek')),
      `${name}: ${used}`,
    )
    assert.ok(!used.some((operator) => /(?:LabelScan|AllNodesScan)/.test(operator)), `${name}: ${used}`)
  }
  await driver.close()
})
