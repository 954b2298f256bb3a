/** Whose things may be taken away: only those of a process that is certainly dead. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { isOrphan, ownerName } from './owner.ts'

const skip = process.platform === 'linux' ? false : 'needs /proc: run on Linux'

test('isOrphan() is true of the dead, and of a number that another has now', { skip }, () => {
  const [space, pid, start] = ownerName().split('-')
  assert.equal(isOrphan(ownerName()), false)
  assert.equal(isOrphan(`${ownerName()}-7`), false)
  const { pid: dead } = spawnSync('true')
  assert.equal(isOrphan(`${space}-${dead}-${start}`), true)
  assert.equal(isOrphan(`${space}-${pid}-${Number(start) - 1}-7`), true)
})

test('isOrphan() says nothing of other namespaces and other names', { skip }, () => {
  const [space, , start] = ownerName().split('-')
  const { pid: dead } = spawnSync('true')
  for (const name of [`${Number(space) + 1}-${dead}-${start}`, 'lost+found', '', '1-2', '..', `${space}-x-${start}`]) {
    assert.equal(isOrphan(name), false, name)
  }
})
