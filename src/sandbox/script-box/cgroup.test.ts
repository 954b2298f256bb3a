/**
 * The names and values of limits, for both versions of control groups; what they do is shown by the
 * boxes themselves.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { settings } from './cgroup.ts'

const bounds = { memoryBytes: 268_435_456, tasks: 64, cpus: 1 }

test('settings() are those of version 1', () => {
  assert.deepEqual(settings(1, 'memory', bounds), [
    ['memory.limit_in_bytes', '268435456'],
    ['memory.memsw.limit_in_bytes?', '268435456'],
  ])
  assert.deepEqual(settings(1, 'pids', bounds), [['pids.max', '64']])
  assert.deepEqual(settings(1, 'cpu', bounds), [
    ['cpu.cfs_period_us', '100000'],
    ['cpu.cfs_quota_us', '100000'],
  ])
})

test('settings() are those of version 2', () => {
  assert.deepEqual(settings(2, 'memory', bounds), [
    ['memory.max', '268435456'],
    ['memory.swap.max?', '0'],
    ['memory.oom.group?', '1'],
  ])
  assert.deepEqual(settings(2, 'pids', bounds), [['pids.max', '64']])
  assert.deepEqual(settings(2, 'cpu', bounds), [['cpu.max', '100000 100000']])
})
