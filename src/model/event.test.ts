/** Pin of the types of events: a new or renamed one does not compile until it stands here too. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { type EventType, homeChain, type InboxType } from '#model'

/** Literals on purpose; the compiler wants every type, and none that does not exist. */
const types: Record<EventType, 'run' | 'home'> = {
  'run.started': 'run',
  'call.issued': 'run',
  'call.sent': 'run',
  'call.resolved': 'run',
  'approval.asked': 'run',
  'approval.answered': 'run',
  'call.settled': 'run',
  'cancel.asked': 'run',
  'policy.changed': 'run',
  'run.logged': 'run',
  'code.traced': 'run',
  'run.suspended': 'run',
  'run.resumed': 'run',
  'run.finished': 'run',
  'artifact.stored': 'run',
  'run.opened': 'home',
  'run.closed': 'home',
  'run.purged': 'home',
  'tool.pinned': 'home',
  'tool.changed': 'home',
  'tool.accepted': 'home',
  'capability.learned': 'home',
  'capability.verified': 'home',
  'capability.changed': 'home',
  'learn.folded': 'home',
  'ledger.restored': 'home',
  'ledger.checkpointed': 'home',
}

const inbox: Record<InboxType, true> = { 'approval.answered': true, 'call.settled': true, 'cancel.asked': true }

test('EventType: every type is a noun and what happened to it', () => {
  assert.equal(Object.keys(types).length, 27)
  for (const type of Object.keys(types)) assert.match(type, /^[a-z]+\.[a-z]+(ed|nt)$/)
})

test('EventType: what others may put into an inbox belongs to a run', () => {
  for (const type of Object.keys(inbox)) assert.equal(types[type as InboxType], 'run')
})

test('homeChain: the name of the chain of the home', () => assert.equal(homeChain, 'home'))
