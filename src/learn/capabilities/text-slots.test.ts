/** What varies inside of texts, as far as intents name it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { slotsIn, slotValues } from './text-slots.ts'

const several = (slots: string[][], expected: unknown) =>
  assert.deepEqual(
    slotsIn(
      slots.map(([text]) => text!),
      slots.map(([, intent]) => intent!),
    ),
    expected,
  )

test('slotsIn() finds the words that vary between texts, where intents name them', () => {
  several(
    [
      ['Onboard Ada', 'onboard Ada'],
      ['Onboard Bob', 'onboard Bob'],
    ],
    ['Onboard ', ['Ada', 'Bob']],
  )
  several(
    [
      ['Onboard Ada', 'onboard ada'],
      ['Onboard Bob', 'onboard bob'],
    ],
    ['Onboard ', ['Ada', 'Bob']],
  )
  several(
    [
      ['Refund ORD-17', 'refund ORD-17 now'],
      ['Refund ORD-18', 'refund ORD-18 now'],
    ],
    ['Refund ', ['ORD-17', 'ORD-18']],
  )
  several(
    [
      ['From Rome to Paris', 'fly Rome Paris'],
      ['From Bonn to Oslo', 'fly Bonn Oslo'],
    ],
    ['From ', ['Rome', 'Bonn'], ' to ', ['Paris', 'Oslo']],
  )
  several(
    [
      ['Onboard Ada Lovelace!', 'onboard Ada Lovelace'],
      ['Onboard Bob!', 'onboard Bob'],
    ],
    ['Onboard ', ['Ada Lovelace', 'Bob'], '!'],
  )
})

test('slotsIn() finds a value inside of a longer token: an address, a path, an id', () => {
  several(
    [
      ['ada@example.org', 'mail Ada'],
      ['bob@example.org', 'mail Bob'],
    ],
    [['ada', 'bob'], '@example.org'],
  )
  several(
    [
      ['/users/ada/in.txt', 'read ada'],
      ['/users/bob/in.txt', 'read bob'],
    ],
    ['/users/', ['ada', 'bob'], '/in.txt'],
  )
})

test('slotsIn() finds none where one run contradicts, where nothing else stays, or no intent names it', () => {
  several(
    [
      ['Onboard Ada', 'onboard Ada'],
      ['Welcome Bob', 'onboard Bob'],
    ],
    null,
  )
  several(
    [
      ['Onboard Ada', 'onboard Ada'],
      ['Onboard Bob', 'onboard somebody'],
    ],
    null,
  )
  several(
    [
      ['Ada', 'onboard Ada'],
      ['Bob', 'onboard Bob'],
    ],
    null,
  )
  several(
    [
      ['ORD-17', 'refund ORD-17'],
      ['ORD-18', 'refund ORD-18'],
    ],
    null,
  )
  several(
    [
      ['Onboard ', 'onboard Ada'],
      ['Onboard Bob', 'onboard Bob'],
    ],
    null,
  )
})

test('slotsIn() takes of one text what looks like a value in its intent', () => {
  const one = (text: string, intent: string) => slotsIn([text], [intent])
  assert.deepEqual(one('Onboard Ada', 'onboard Ada with priority 3'), ['Onboard ', ['Ada']])
  assert.deepEqual(one('Onboard Ada', 'Onboard Ada with priority 3'), ['Onboard ', ['Ada']])
  assert.deepEqual(one('set up Ada Lovelace (Ada)', 'onboard Ada Lovelace'), ['set up ', ['Ada Lovelace'], ' (Ada)'])
  assert.equal(one('Lord of the Rings', 'find the book Lord of the Rings'), null, 'it stands there as it is')
  assert.equal(one('Canada', 'onboard Ada'), null)
  assert.equal(one('late orders', 'refund late orders'), null)
})

test('slotValues() reads a text back, and nothing from another', () => {
  const pieces = ['From ', { parameter: 'a' }, ' to ', { parameter: 'b' }, '.']
  assert.deepEqual(
    [...slotValues(pieces, 'From Rome to New York.')],
    [
      ['a', 'Rome'],
      ['b', 'New York'],
    ],
  )
  assert.equal(slotValues(pieces, 'From Rome').size, 0)
})
