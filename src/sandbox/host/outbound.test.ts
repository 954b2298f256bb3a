/** The list of what may be reached, as the configuration writes it. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { parseOutbound } from './outbound.ts'

test('parseOutbound() reads hosts with their ports, and refuses anything else', () => {
  const list = ['Example.org:443', 'a.b-c.example.:80', '10.0.0.1:8080', '[::1]:9']
  assert.deepEqual(parseOutbound(list), ['example.org:443', 'a.b-c.example:80', '10.0.0.1:8080', '::1:9'])
  for (const entry of [
    'example.org',
    'http://example.org:80',
    '*:443',
    'a:0',
    'a:65536',
    'a:x',
    ':443',
    'a b:1',
    'u@h:1',
    '',
  ]) {
    assert.throws(() => parseOutbound([entry]), { code: 'CONFIG_INVALID' }, entry)
  }
})
