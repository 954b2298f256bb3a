/** An old wish and something more, or the opposite of it: none passes for the old one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '#model'
import { bindArguments } from './bind-arguments.ts'
import { unmatchedIn } from './unmatched.ts'

type Served = { intent: string; args: Record<string, Json> }

/** What each habit was asked for; `next` is asked now, with other values. */
const habits: { next: string; other: string; served: Served[] }[] = [
  {
    next: 'refund order ORD-99',
    other: 'refund invoice INV-3',
    served: ['17', '18', '204'].map((id) => ({ intent: `refund order ORD-${id}`, args: { order: `ORD-${id}` } })),
  },
  {
    next: 'send Grace a reminder of invoice INV-8',
    other: 'send Grace a copy of invoice INV-8',
    served: [
      { intent: 'remind Ada of invoice INV-7', args: { name: 'Ada', invoice: 'INV-7' } },
      { intent: 'send Alan a reminder of invoice INV-81', args: { name: 'Alan', invoice: 'INV-81' } },
    ],
  },
  {
    next: 'how many pieces of heddle are in stock in Brest',
    other: 'how many pieces of heddle were sold in Brest',
    served: [
      { intent: 'how many pieces of loom are in stock in Lyon', args: { item: 'loom', city: 'Lyon' } },
      { intent: 'pieces of reed in stock in Lille', args: { item: 'reed', city: 'Lille' } },
    ],
  },
  {
    next: 'onboard Dora with priority 7',
    other: 'onboard Dora with a laptop',
    served: [
      { intent: 'onboard Ada with priority 3', args: { name: 'Ada', priority: 3 } },
      { intent: 'onboard Bob with priority 4', args: { name: 'Bob', priority: 4 } },
    ],
  },
  {
    next: 'add the task "water all plants and feed the cat"',
    other: 'remove the task "water all plants"',
    served: [
      { intent: 'add the task "call the bank"', args: { title: 'call the bank' } },
      { intent: 'add the task "buy milk"', args: { title: 'buy milk' } },
    ],
  },
  {
    next: 'translate report.txt into French',
    other: 'translate report.txt into a table',
    served: [
      { intent: 'translate notes.txt into German', args: { file: 'notes.txt', language: 'German' } },
      { intent: 'translate plan.txt into Spanish', args: { file: 'plan.txt', language: 'Spanish' } },
    ],
  },
]

const added = [
  'and close her account',
  'and also mail the customer',
  ', then delete it',
  'and tell the manager',
  'but keep the fee',
  '. Close the account',
  'plus a voucher',
  'and ORD-5000',
  'and Bob as well',
  'twice',
  'for everyone',
  'und kündige das Konto',
  'y cierra la cuenta',
  '并关闭她的账户',
  'then wipe the disk',
  '; rm -rf /',
  'as root',
  'after midnight',
  'if the manager agrees',
  'unless it was paid',
  'only when it is late',
  'in two weeks',
  'ignoring the limit',
  'without a receipt',
  '🔥 everything',
]
const before = [
  'do not',
  "don't",
  'don’t',
  'never',
  'please do not',
  'stop:',
  'undo:',
  'cancel this:',
  'why did you',
  'did we',
  'who may',
  'forget what I said:',
  'pretend to',
  'check whether to',
  'delete her account and',
  'first pay him, then',
  'list everybody whom we did',
  'nicht',
  'simulate:',
  'explain how to',
]
const polite: ((intent: string) => string)[] = [
  (intent) => intent,
  (intent) => `please ${intent}`,
  (intent) => `could you ${intent}?`,
  (intent) => `${intent}, please`,
  (intent) => `Hello, can you please ${intent}? Thank you!`,
  (intent) => `Hi! ${intent} for me`,
  (intent) => `${intent}.`,
]

const schemaOf = (args: Record<string, Json>) => ({
  properties: Object.fromEntries(Object.keys(args).map((name) => [name, { type: typeof args[name]! }])),
})

function readAgainst(intent: string, served: Served[]) {
  const { args } = bindArguments(intent, schemaOf(served[0]!.args), served)
  return unmatchedIn(intent, args, served)
}

test('unmatchedIn() finds nothing in other values, and in forms of politeness', () => {
  for (const { next, served } of habits) {
    for (const say of polite) {
      const found = readAgainst(say(next), served)
      assert.deepEqual(found, { words: [], lacking: [], share: 1 }, say(next))
    }
  }
})

test('unmatchedIn() lets no added wish, condition, negation, question or other object pass', () => {
  const passed: string[] = []
  const sure: string[] = []
  let tried = 0
  for (const { next, other, served } of habits) {
    const dangerous = [...added.map((more) => `${next} ${more}`), ...before.map((more) => `${more} ${next}`), other]
    for (const intent of dangerous) {
      tried++
      const { words, lacking, share } = readAgainst(intent, served)
      if (words.length + lacking.length === 0) passed.push(intent)
      if (share > 0.9) sure.push(intent)
    }
  }
  assert.equal(tried, habits.length * (added.length + before.length + 1))
  assert.deepEqual([passed, sure], [[], []])
})

test('unmatchedIn() holds another wish beside the old one for half as likely, and a word in it for a little less', () => {
  const { served } = habits[0]!
  const share = (intent: string) => readAgainst(intent, served).share
  assert.ok(share('refund order ORD-99 and close her account') <= 0.5)
  assert.ok(share('do not refund order ORD-99') <= 0.5)
  assert.ok(share('refund the late order ORD-99') >= 0.9)
  assert.ok(share('hand back the money') < 0.6)
})

test('unmatchedIn() takes no value of an earlier intent for a known word, and a value said twice for one', () => {
  const { served } = habits[0]!
  assert.equal(readAgainst('refund order ORD-99 like ORD-17', served).words.length, 2)
  assert.deepEqual(unmatchedIn('refund order cancel, cancel', { order: 'cancel' }, served).words, ['cancel'])
  const unknown = served.map(({ intent }) => ({ intent, args: null }))
  assert.deepEqual(unmatchedIn('refund order ORD-17', {}, unknown).words, ['ord-17'])
})

test('unmatchedIn() takes no word that points at something else for a value, nor one to whom it goes for politeness', () => {
  const [refund, , , onboard] = habits.map(({ served }) => served)
  for (const name of ['her', 'Nobody', 'all', 'it'])
    assert.deepEqual(unmatchedIn(`onboard ${name} with priority 7`, { name, priority: 7 }, onboard!).words, [
      name.toLowerCase(),
    ])
  const usual = [{ intent: 'list all orders', args: { which: 'all' } }]
  assert.deepEqual(unmatchedIn('list all orders', { which: 'all' }, usual).words, [], 'it always was a value here')
  assert.deepEqual(readAgainst('refund order ORD-99 to me', refund!).words, ['me'])
  assert.deepEqual(readAgainst('refund order ORD-99 for me', refund!).words, [])
})

test('unmatchedIn() knows where a value stood to the wish: what is paid from Dora is not paid to her', () => {
  const paid = ['Ada', 'Bob'].map((name) => ({ intent: `pay 8 to ${name}`, args: { name, amount: 8 } }))
  const wordsOf = (intent: string) => readAgainst(intent, paid).words
  for (const same of ['pay 9 to Dora', 'pay Dora 9', 'please pay 9 to Dora for me'])
    assert.deepEqual(wordsOf(same), [], same)
  for (const direction of ['from', 'for', 'by', 'with', 'at'])
    assert.deepEqual(wordsOf(`pay 9 ${direction} Dora`), [direction])
  const moved = ['Ada', 'Bob'].map((from) => ({ intent: `move 8 from ${from} to Eve`, args: { from, to: 'Eve' } }))
  assert.deepEqual(unmatchedIn('move 8 to Cleo from Eve', { from: 'Cleo', to: 'Eve' }, moved).words, ['to', 'from'])
  assert.deepEqual(unmatchedIn('move 8 to Cleo from Eve', { from: 'Eve', to: 'Cleo' }, moved).words, [])
})

test('unmatchedIn() takes a longer value than any before for a wish that was swallowed, unless it stands in quotes', () => {
  const { served } = habits[2]!
  const args = { item: 'heddle cancel all orders', city: 'Brest' }
  const intent = 'how many pieces of heddle cancel all orders are in stock in Brest'
  assert.deepEqual(unmatchedIn(intent, args, served).words, ['heddle', 'cancel', 'all', 'orders'])
})

test('unmatchedIn() wants the same negations as an earlier intent, not only words that were once said', () => {
  const mail = ['Ada', 'Bob'].map((name) => ({ intent: `mail ${name} that we do not close`, args: { name } }))
  assert.deepEqual(readAgainst('mail Cleo that we do not close', mail).words, [])
  const both = [...mail, { intent: 'mail Eve that we close never', args: { name: 'Eve' } }]
  assert.deepEqual(readAgainst('never mail Cleo that we do not close', both).words, ['never', 'not'])
})
