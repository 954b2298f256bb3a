/** The tools of the task graph keep their contract over a file and over a real Neo4j. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '#test'
import { neo4jAddress, whyNoNeo4j } from '#test/services'
import { graphToolsContract } from './graph-tools.ts'
import { hostileTexts } from './hostile-texts.ts'

graphToolsContract('SQLite', (t) => ({ file: join(temporaryFolder(t), 'tasks.db') }))

const share = process.env.LONG === '1' ? 1 : 5
graphToolsContract('Neo4j', () => neo4jAddress(), { skip: whyNoNeo4j(), share })

test('there are at least 200 hostile texts, each once', () => {
  const different = new Set(hostileTexts).size
  assert.ok(different >= 200, String(different))
})
