/** Tests of foresee() and fitConfidence(): habits, unknown intents, stuffed ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calibrationError } from '#learn/models'
import { fitConfidence, foresee, outcomesOf, type ToolHabit } from './foresee.ts'
import { openPastIntents } from './past-intents.ts'
import { readIntent } from './read-intent.ts'

const habitWords: Record<string, { tools: string[]; say(value: string): string[] }> = {
  refund: {
    tools: ['shop:find', 'bank:pay'],
    say: (value) => [`refund the late order ${value}`, `give back the money of order ${value}`],
  },
  weather: {
    tools: ['sky:forecast'],
    say: (value) => [`weather forecast for station ${value}`, `what will the weather be at station ${value}`],
  },
  invite: {
    tools: ['calendar:find', 'mail:send'],
    say: (value) => [`invite the team to meeting ${value}`, `send the team an invitation to meeting ${value}`],
  },
  backup: {
    tools: ['disk:copy', 'disk:verify'],
    say: (value) => [`back up the folder ${value}`, `make a backup of the folder ${value}`],
  },
}

function world() {
  const past = openPastIntents()
  const habits: ToolHabit[] = []
  for (const [id, { tools, say }] of Object.entries(habitWords)) {
    const intents = ['A1', 'B2', 'C3', 'D4'].flatMap(say)
    for (const intent of intents) past.add({ intent, subject: null, status: 'done', tools })
    habits.push({ id, tools, intents: intents.slice(0, 6).map(readIntent) })
  }
  return { past, habits }
}

test('foresee() knows a habit by another wording, and gives an unknown intent little confidence', () => {
  const { past, habits } = world()
  const confidence = fitConfidence([...outcomesOf(past, habits)])
  const known = foresee('please refund late order E5', past.nearest('please refund late order E5'), habits)
  assert.equal(known.habit, 'refund')
  assert.ok(confidence.of(known) > 0.7, String(confidence.of(known)))
  const unknown = foresee('translate this poem into Danish', past.nearest('translate this poem into Danish'), habits)
  assert.ok(confidence.of(unknown) < 0.4, String(confidence.of(unknown)))
  assert.ok(calibrationError(confidence.outcomes) < 0.1)
})

test('fitConfidence() never claims more than the number of cases allows', () => {
  const right = [1, 2, 3].map(() => ({ features: [1, 1, 1, 1, 1], isRight: true }))
  const sure = { tools: ['a:b'], habit: null, near: [], features: [1, 1, 1, 1, 1] }
  assert.ok(fitConfidence(right).of(sure) <= 4 / 5)
  assert.equal(fitConfidence([]).of(sure), 0)
})

test('foresee() is not won by an intent that is stuffed with words, long, or said again and again', () => {
  const { past, habits } = world()
  const everything = Object.values(habitWords)
    .flatMap(({ say }) => say('A1'))
    .join(' ')
  const stuffed = `${everything} ${everything} weather weather weather ${'refund order '.repeat(500)}`
  for (let time = 0; time < 200; time++)
    past.add({ intent: stuffed, subject: null, status: 'done', tools: ['evil:steal'] })
  const poisoned = [...habits, { id: 'evil', tools: ['evil:steal'], intents: [readIntent(stuffed.slice(0, 1000))] }]
  for (const [id, { say }] of Object.entries(habitWords)) {
    for (const intent of say('Z9')) {
      const foreseen = foresee(intent, past.nearest(intent), poisoned)
      assert.equal(foreseen.habit, id, intent)
      assert.equal(foresee(intent, past.nearest(intent), []).tools.includes('evil:steal'), false, intent)
    }
  }
})

test('outcomesOf() foresees each intent once, and the first of a set that recurs also without its set', () => {
  const run = (intent: string, ...tools: string[]) => ({ intent, subject: null, status: 'done', tools })
  const unlike = [
    run('refund an order', 'shop:refund'),
    run('book a flight', 'air:book'),
    run('mail a letter', 'mail:send'),
  ]
  const once = [...outcomesOf(openPastIntents(unlike), [])]
  assert.deepEqual(
    once.map(({ isRight }) => isRight),
    [false, false, false],
  )
  const recurring = [...unlike, run('refund another order', 'shop:refund')]
  const outcomes = [...outcomesOf(openPastIntents(recurring), [])]
  assert.deepEqual(
    outcomes.map(({ isRight }) => isRight),
    [true, false, false, false, true],
  )
})
