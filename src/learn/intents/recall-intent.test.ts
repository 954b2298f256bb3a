/** Old intents with other values are recalled with their values; new ones are not. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { fillSlots } from './fill-slots.ts'
import { readIntent } from './read-intent.ts'
import { habitFeatures, recallIntent } from './recall-intent.ts'

const habits = [
  { id: 'cap:refund', intents: ['Refund order #301 for Ann Miller', 'Refund order #77 for Bob Stone'] },
  { id: 'cap:open_issue', intents: ['Open an issue "It crashes" in acme/web', 'Open an issue "Too slow" in acme/api'] },
  { id: 'cap:weather', intents: ['What is the weather in Paris tomorrow?', 'What is the weather in Rome tomorrow?'] },
].map(({ id, intents }) => ({ id, intents: intents.map(readIntent) }))

test('recallIntent() recalls the habit for other values, and no habit for another wish', () => {
  const best = (text: string) => recallIntent(readIntent(text), habits)[0]!
  assert.equal(best('Refund order #12 for Eve Adams').id, 'cap:refund')
  assert.ok(best('Refund order #12 for Eve Adams').confidence > 0.6)
  assert.equal(best('Open an issue "No sound" in acme/tv').id, 'cap:open_issue')
  assert.ok(best('Translate the annual report into French').confidence < 0.6)
  assert.deepEqual(recallIntent(readIntent('anything'), []), [])
})

test('recallIntent() takes a quotation of any length as one value, and words outside of every gap as another wish', () => {
  const best = (text: string) => recallIntent(readIntent(text), habits)[0]!
  const long = best('Open an issue "after the last update the page stays empty and nobody can log in" in acme/tv')
  assert.equal(long.id, 'cap:open_issue')
  assert.ok(long.confidence > 0.9)
  const more = best('Refund order #12 for Eve Adams and also close the account of every customer who ever complained')
  assert.ok(more.confidence < 0.7 * best('Refund order #12 for Eve Adams').confidence)
})

test('habitFeatures() lets a name be missing that all intents had by chance, and no other word', () => {
  const commits = ['How many commits did Eric make on 3/2?', 'How many commits did Eric and Kilian make on 1/3?']
  const known = [{ id: 'cap:commits', intents: commits.map(readIntent) }]
  const isWhole = (text: string) => habitFeatures(readIntent(text), known)[0]!.features[30]
  assert.equal(isWhole('How many commits did Kilian make on 3/5?'), 1)
  assert.equal(isWhole('How many branches did Kilian make on 3/5?'), 0)
})

test('habitFeatures() reads what does not depend on the intent once for the same habits', () => {
  const reads = { skeletons: 0, counts: 0 }
  const copies = habits.map(({ id, intents }) => ({ id, intents: [...intents] }))
  const counted = <Of extends object>(of: Of, member: keyof Of, what: keyof typeof reads) => {
    const value = of[member]
    const get = () => {
      reads[what]++
      return value
    }
    return Object.defineProperty(of, member, { get })
  }
  for (const { intents } of copies) intents[0] = counted({ ...intents[0]! }, 'frame', 'skeletons')
  counted(copies, 'flatMap', 'counts')
  const ask = () => habitFeatures(readIntent('Refund order #12 for Eve Adams'), copies)
  const first = ask()
  assert.deepEqual(ask(), first)
  assert.deepEqual(reads, { skeletons: habits.length, counts: 1 })
  copies.push({ id: 'cap:order', intents: ['Order a refund for the weather'].map(readIntent) })
  const fresh = habitFeatures(readIntent('Refund order #12 for Eve Adams'), [...copies])
  assert.deepEqual(ask(), fresh, 'a habit more changes how much each word says')
  assert.notDeepEqual(fresh.slice(0, 3), first)
})

test('fillSlots() finds whole names, numbers and quotations', () => {
  const fill = (text: string, habit: number) => fillSlots(readIntent(text), habits[habit]!.intents)
  assert.deepEqual(fill('Refund order #12 for Eve Adams', 0), ['12', 'Eve Adams'])
  assert.deepEqual(fill('Open an issue "No sound" in acme/tv', 1), ['No sound', 'acme/tv'])
  assert.deepEqual(fill('What is the weather in New York tomorrow?', 2), ['New York'])
})
