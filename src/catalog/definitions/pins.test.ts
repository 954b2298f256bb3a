/**
 * Tests of pins: what is put on the record, what may be called, and what a human has to accept
 * first.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { type Effect, type JsonObject, limits, type Tool } from '#model'
import { dice } from '#test'
import { type PinEvent, Pins } from './pins.ts'

/** A chain in memory: what two processes that share a home have in common. */
function chain() {
  const events: PinEvent[] = []
  const read = (after: number) => events.map((event, at) => ({ ...event, n: at + 1 })).filter(({ n }) => n > after)
  return {
    events,
    read,
    readOf: (id: string, after: number) => read(after).filter(({ body }) => body.tool === id),
    anchor: () => null,
    holds: () => true,
    append: async (more: readonly PinEvent[]) => void events.push(...structuredClone(more)),
  }
}

function open(record: ReturnType<typeof chain>, secrets: string[] = []) {
  return new Pins({ record, secrets, effectOf: (_tool, { effect = 'unsafe' }) => effect as Effect })
}

function tool(
  digest: string,
  effect: Effect,
  more: { id?: string; description?: string; input?: JsonObject } = {},
): Tool {
  const { id = 'fx:add', description = 'Add.', input = { type: 'object' } } = more
  const [server, name] = id.split(':') as [string, string]
  return { id, server, name, description, input, annotations: { effect }, effect, effectFrom: 'annotations', digest }
}

const outline = ({ events }: ReturnType<typeof chain>) =>
  events.map(({ type, body }) => `${type} ${body.tool} ${body.digest}`)

test('see() pins each tool once, also over several lives', async () => {
  const record = chain()
  const tools = [tool('a', 'unsafe'), tool('b', 'read', { id: 'fx:read' })]
  await Promise.all([open(record).observe(tools), open(record).observe([])])
  const pins = open(record)
  await Promise.all([pins.observe(tools), pins.observe(tools)])
  assert.deepEqual(outline(record), ['tool.pinned fx:add a', 'tool.pinned fx:read b'])
  assert(tools.every((each) => pins.isPinned(each) && pins.changeOf(each) === null && pins.problemOf(each) === null))
})

test('problemOf() refuses a changed tool that can do harm until it is accepted, also by another process', async () => {
  const record = chain()
  const pins = open(record)
  const changed = tool('b', 'unsafe', { description: 'Add, and send a copy.' })
  await pins.observe([tool('a', 'unsafe')])
  await pins.observe([changed])
  await pins.observe([changed])
  assert.deepEqual(outline(record), ['tool.pinned fx:add a', 'tool.changed fx:add b'])
  const problem = pins.problemOf(changed)
  assert.equal(problem?.code, 'TOOL_CHANGED')
  assert.match(problem.message, /^Cannot call "fx:add": .*\(description\).*"metier tools fx".*"metier accept fx:add"$/)
  const diff = [{ field: '/description', before: 'Add.', after: 'Add, and send a copy.' }]
  assert.deepEqual(problem.context, { tool: 'fx:add', parts: ['description'] })
  assert.deepEqual(await open(record).accept(changed, 'ann'), diff)
  assert.equal(pins.problemOf(changed), null)
  assert.equal(open(record).problemOf(tool('a', 'unsafe'))?.code, 'TOOL_CHANGED')
  assert.deepEqual(await pins.accept(changed, 'ann'), [])
})

test('problemOf() lets a read change that stays a read, and refuses a class that became weaker', async () => {
  const table: [before: Effect, after: Effect, refused: boolean][] = [
    ['read', 'read', false],
    ['unsafe', 'read', true],
    ['idempotent', 'read', true],
    ['read', 'idempotent', true],
    ['unsafe', 'unsafe', true],
  ]
  for (const [before, after, refused] of table) {
    const pins = open(chain())
    await pins.observe([tool('a', before)])
    await pins.observe([tool('b', after)])
    assert.equal(pins.problemOf(tool('b', after)) !== null, refused, `${before} to ${after}`)
    assert.equal(pins.isPinned(tool('b', after)), false)
  }
})

test('accept() accepts what it was shown: a further change is refused again, what was there before is fine', async () => {
  const record = chain()
  const pins = open(record)
  await pins.observe([tool('a', 'unsafe')])
  await pins.observe([tool('b', 'unsafe', { description: 'Two.' })])
  assert.equal(pins.problemOf(tool('a', 'unsafe')), null)
  await pins.accept(tool('b', 'unsafe', { description: 'Two.' }), 'ann')
  const third = tool('c', 'unsafe', { description: 'Three.' })
  await pins.observe([third])
  const diff = [{ field: '/description', before: 'Two.', after: 'Three.' }]
  assert.deepEqual(pins.problemOf(third)?.context.parts, ['description'])
  assert.deepEqual(open(record).changeOf(third), diff)
})

test('see() leaves secrets out of the record', async () => {
  const record = chain()
  await open(record, ['hunter2hunter2']).observe([tool('a', 'read', { input: { title: 'for hunter2hunter2' } })])
  assert(!JSON.stringify(record.events).includes('hunter2'))
  assert(JSON.stringify(record.events).includes('«secret»'))
})

test('see() says so when the record refuses, and goes on with the next', async () => {
  const record = chain()
  const { append } = record
  const pins = open(record)
  record.append = async () => {
    throw new Error('full')
  }
  await assert.rejects(pins.observe([tool('a', 'read')]), /full/)
  record.append = append
  await pins.observe([tool('a', 'read')])
  assert(pins.isPinned(tool('a', 'read')))
})

test('pins that are read tool by tool judge as those that were read all at once', async () => {
  const effects: Effect[] = ['read', 'idempotent', 'unsafe']
  const ids = Array.from({ length: 12 }, (_, at) => `fx:t${at}`)
  for (let seed = 1; seed <= 30; seed++) {
    const next = dice(seed)
    const pick = <Value>(values: readonly Value[]) => values[Math.floor(next() * values.length)]!
    const anyTool = () => tool(pick(['a', 'b', 'c']), pick(effects), { id: pick(ids), description: pick(['1', '2']) })
    const record = chain()
    const single = open(record)
    const complete = open(record)
    // More than are read one by one.
    const strangers = Array.from({ length: limits.pinSingleReadsMax + 1 }, (_, at) =>
      tool('a', 'read', { id: `no:${at}` }),
    )
    for (let round = 0; round < 10; round++) {
      const by = pick([single, complete, open(record)])
      const seen = anyTool()
      await by.observe([seen])
      if (next() < 0.3) await by.accept(seen, 'ann').catch(() => {})
      const fresh = open(record)
      for (const each of strangers) complete.isPinned(each)
      for (const other of [anyTool(), anyTool(), seen]) {
        const verdicts = [fresh, single].map((pins) => pins.problemOf(other)?.message ?? null)
        const all = open(record)
        for (const each of strangers) all.isPinned(each)
        const expected = all.problemOf(other)?.message ?? null
        assert.equal(verdicts[0], expected, `seed ${seed}`)
        assert.deepEqual([fresh.changeOf(other), fresh.isPinned(other)], [all.changeOf(other), all.isPinned(other)])
        if (verdicts[1] !== null) assert.equal(verdicts[1], expected, `seed ${seed}: what is refused was read just now`)
      }
    }
  }
})
