/** How many capabilities a record teaches: as many as it has habits, however often they ran. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  capabilitiesToLearn,
  interventionOf,
  type KnownShape,
  openCapabilities,
  openLearner,
  type RunCall,
} from '#learn'
import type { Store } from '#record'
import { closeSample, openSample } from '#test'

const perHabit = process.env.LONG === '1' ? 50 : 8
/** A value of one thing has the word of the thing in it: it must not cost the name that word. */
const verbs = ['Refund', 'Archive', 'Translate', 'Summarise', 'Rename']
const things = ['order', 'invoice', 'ticket', 'parcel']
const habits = verbs.flatMap((verb) => things.map((thing) => ({ verb, thing })))
const wordings = [
  (name: string) => `const ${name} = `,
  (name: string) => `// as it was asked\n  const ${name} =\n `,
  (name: string) => `let ${name} = `,
]

/** One run of a habit: other names, layout, comments and values than the run before. */
function practise(store: Store, { verb, thing }: (typeof habits)[number], time: number): Promise<string> {
  const key = `${thing.toUpperCase()}-${100 + time}`
  const tool = `${verb.toLowerCase()}_${thing}`
  const name = ['found', 'it', 'answer', 'x'][time % 4]!
  const begin = wordings[time % 2]!(name)
  const source = `${begin}await mcp.desk.${tool}({ key: '${key}', copies: 2 })\nreturn ${name}.state`
  const intent = [`${verb} the ${thing} ${key}`, `please ${verb.toLowerCase()} ${thing} ${key}`][time % 2]!
  const call = { tool: `desk:${tool}`, args: { key, copies: 2 }, value: { state: key } }
  return closeSample(store, [call], { intent, args: {}, plan: { kind: 'code', source, digest: source } })
}

test(`${habits.length * perHabit} runs of twenty habits give 20 to 24 capabilities`, async (t) => {
  const store = await openSample(t)
  const learner = openLearner({ store, enabled: true })
  const known = openCapabilities(store, () => false)
  const callsOf = (run: string) =>
    store.events(run, { type: 'call.issued' }).map(({ body }) => ({ ...(body as RunCall), definition: 'd' }))
  for (let time = 0; time < perHabit; time++) {
    for (const [at, habit] of habits.entries()) {
      await practise(store, habit, time)
      if (at % 5 !== 0) continue
      await learner.catchUp()
      const learned = capabilitiesToLearn(learner.knowledge().shapes(), known.versions(), {
        callsOf,
        inputOf: () => undefined,
      })
      for (const body of learned) await store.appendHome('capability.learned', body)
    }
  }
  const names = new Set(known.all().map(({ name }) => name))
  assert.ok(names.size >= 20 && names.size <= 24, [...names].join())
  assert.ok(
    known.all().length <= 24,
    known
      .all()
      .map(({ name, version }) => `${name}@${version}`)
      .join(),
  )
  assert.ok(names.has('refund_order') && names.has('rename_parcel'), [...names].join())
  await learner.close()
})

test('capabilitiesToLearn() drafts a shape once, and again when a run was added to it', async (t) => {
  const store = await openSample(t)
  const learner = openLearner({ store, enabled: true })
  let drafted: string[] = []
  /** The text of a shape is read where it is drafted, and nowhere else. */
  const watched = new Map<KnownShape, KnownShape>()
  const watch = (shape: KnownShape): KnownShape => {
    const { code, ...rest } = shape
    const seen = watched.get(shape) ?? {
      ...rest,
      get code() {
        drafted.push(/mcp\.desk\.(\w+)/.exec(code)![1]!)
        return code
      },
    }
    watched.set(shape, seen)
    return seen
  }
  const learn = async () => {
    drafted = []
    await learner.catchUp()
    capabilitiesToLearn(learner.knowledge().shapes().map(watch), [], { callsOf: () => [], inputOf: () => undefined })
    return drafted.sort()
  }
  for (const habit of habits.slice(0, 3)) await practise(store, habit, 1)
  assert.deepEqual(await learn(), ['refund_invoice', 'refund_order', 'refund_ticket'])
  assert.deepEqual(await learn(), [])
  await practise(store, habits[1]!, 3)
  assert.deepEqual(await learn(), ['refund_invoice'])
  await learner.close()
})

test('capabilitiesToLearn() takes the same words about other tools for another habit', () => {
  const shape = (tool: string) => {
    const runs = [{ run: tool, intent: 'Tidy up', literals: [], args: {}, ms: 1, ok: true }]
    const code = `return mcp.${tool.replace(':', '.')}({})`
    return { digest: tool, subject: null, kind: 'code', code, tools: [tool], runs } as const
  }
  const shapes = [shape('desk:sort'), shape('attic:sort')]
  const learned = capabilitiesToLearn(shapes, [], {
    callsOf: (tool) => [{ tool, definition: 'd', effect: null }],
    inputOf: () => undefined,
  })
  assert.deepEqual(
    learned.map(({ capability, version }) => `${capability}@${version}`),
    ['tidy_up@1', 'tidy_up_2@1'],
  )
})

const judged = (repairs: number, regressions: number, ties: number, unknown = 0) =>
  interventionOf([
    ...Array(repairs).fill('repair'),
    ...Array(regressions).fill('regression'),
    ...Array(ties).fill('tie'),
    ...Array(unknown).fill('unknown'),
  ])

test('interventionOf() is against what breaks more than it repairs, and never after two runs', () => {
  assert.equal(judged(0, 2, 0).isHarmful, false)
  assert.equal(judged(0, 3, 0).isHarmful, true)
  assert.equal(judged(0, 3, 7).isHarmful, true)
  assert.equal(judged(0, 3, 17).isHarmful, false)
  assert.equal(judged(6, 3, 11).isHarmful, false)
  assert.equal(judged(0, 0, 0, 20).isHarmful, false)
  assert.deepEqual([judged(1, 2, 3, 4).judged, judged(1, 2, 3, 4).abstentions], [6, 4])
  assert.ok(judged(5, 0, 0).lower > judged(0, 0, 5).lower && judged(0, 0, 5).lower > judged(0, 5, 0).lower)
})
