/** One box: ended whole, whenever that is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError } from '#model'
import { children, heldBubblewrap, startingBelow, temporaryFolder, whyNot } from '#test'
import { openBox } from './box.ts'
import { programCommand } from './command.ts'

test('openBox() leaves nothing of a box that is ended while it starts', { skip: whyNot('os') }, async (t) => {
  const walls = { kind: 'bubblewrap', bwrap: heldBubblewrap(temporaryFolder(t)), seccomp: null } as const
  const box = openBox(programCommand({ node: process.execPath, walls, stackBytes: 1024 * 1024, addon: null }))
  await startingBelow(t, process.pid)
  box.kill(new AppError('CANCELLED', 'Cannot use the box: it is not wanted'))
  const isGone = await Promise.race([box.gone.then(() => true), pause(5000, false, { ref: false })])
  assert(isGone, 'nobody holds its outputs any more')
  assert.deepEqual(children(process.pid), [])
})
