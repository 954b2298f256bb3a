/** Tests of the names that are offered for a mistyped one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nearNames } from './near-names.ts'

test('nearNames() finds a name with a letter too many, too few, wrong or swapped, and no other word', () => {
  const names = ['mcpServers', 'policy', 'sandbox', 'http', 'env', 'expose']
  const cases: [string, string[]][] = [
    ['mcpServer', ['mcpServers']],
    ['mcp_servers', ['mcpServers']],
    ['polciy', ['policy']],
    ['sandbx', ['sandbox']],
    ['htp', ['http']],
    ['en', ['env']],
    ['e', []],
    ['policy', []],
    ['exports', []],
    ['timeout', []],
  ]
  for (const [given, near] of cases) assert.deepEqual(nearNames(given, names), near, given)
})

test('nearNames() puts the nearest first and gives three at most', () => {
  assert.deepEqual(nearNames('read_fil', ['read_files', 'read_file', 'write_file']), ['read_file', 'read_files'])
  assert.equal(nearNames('aaaaaa', ['aaaaab', 'aaaaac', 'aaaaad', 'aaaaae']).length, 3)
})
