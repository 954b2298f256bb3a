/** Which of two tools comes first is read from the intent, also of tools never used together. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWitness } from './evidence.ts'
import { gatherExperience } from './experience.ts'
import { openPairs } from './pair-features.ts'

const [cancel, set, ship] = ['clock:alarm_cancel', 'clock:alarm_set', 'post:parcel_ship']
const plans = ['seven', 'eight', 'nine', 'ten'].flatMap((hour) => [
  { intent: `cancel the alarm at ${hour}`, tools: [cancel] },
  { intent: `set an alarm at ${hour}`, tools: [set] },
  { intent: `drop the alarm at ${hour}, the parcel goes out`, tools: [cancel, ship] },
])
const experience = gatherExperience(plans)
const [witness, pairs] = [openWitness(experience), openPairs(experience)]
const rowOf = (intent: string, first: string, second: string) =>
  pairs([cancel, set, ship, 'clock:alarm_snooze'], witness(intent, [], new Map()))(first, second)
const [pastAt, ownAt, apartAt, namedAt, latenessAt] = [0, 4, 5, 7, 10] as const

test('openPairs() tells two tools apart by where the intent means each, from either side', () => {
  const [forth, back] = ['cancel my alarm, set another', 'set an alarm, cancel the other'].map((intent) =>
    rowOf(intent, cancel, set),
  ) as [number[], number[]]
  for (const at of [ownAt, apartAt, namedAt]) {
    assert.ok(forth[at]! > 0.1 && back[at]! < -0.1, `${at}: ${forth[at]} ${back[at]}`)
    const turned = rowOf('cancel my alarm, set another', set, cancel)
    assert.ok(Math.abs(turned[at]! + forth[at]!) < 1e-9, 'the other side')
  }
  assert.equal(forth[pastAt], 0, 'they were never used together')
})

test('openPairs() reads a tool that was never used by its name, and how late tools usually are', () => {
  const known = rowOf('snooze the alarm, then cancel it', 'clock:alarm_snooze', cancel)
  assert.ok(known[namedAt]! > 0.1, String(known[namedAt]))
  assert.ok(rowOf('send it', cancel, ship)[latenessAt]! > 0.5)
  assert.ok(rowOf('send it', cancel, ship)[pastAt]! > 1)
})
