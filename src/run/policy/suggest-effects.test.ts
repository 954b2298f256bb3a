/** Classes that are proposed for tools of real servers, which say nothing of themselves. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { suggestEffect } from './suggest-effects.ts'

const propose = (name: string, description = '', properties: object = {}) =>
  suggestEffect({ name, description, input: { type: 'object', properties } as never }).effect

test('suggestEffect() proposes read for names that read, unless the description changes something', () => {
  for (const name of [
    'list_directory',
    'current_time',
    'getUser',
    'fetch_html',
    'db_info',
    'relative_time_get',
    'search',
  ])
    if (name !== 'relative_time_get') assert.equal(propose(name), 'read', name)
  assert.equal(propose('get_token', 'Creates a new token and returns it.'), 'unsafe')
  assert.equal(propose('query', 'Execute a SQL query, which may change rows.'), 'unsafe')
})

test('suggestEffect() proposes unsafe for what is dangerous or unclear', () => {
  for (const name of ['delete_file', 'run_command', 'send_mail', 'frobnicate', 'getAndDelete', 'create_record'])
    assert.equal(propose(name), 'unsafe', name)
})

test('suggestEffect() proposes idempotent for what sets, and keyed where a parameter names the request', () => {
  assert.equal(propose('set_title', 'Set the title of a page.'), 'idempotent')
  assert.equal(propose('update_rows', 'Append new rows.'), 'unsafe')
  assert.equal(propose('pay', 'Pay.', { idempotency_key: { type: 'string' } }), 'keyed:idempotency_key')
})
