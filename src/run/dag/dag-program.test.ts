/**
 * A graph of tasks: what is refused before it runs, how values are bound, and in which order calls
 * are issued.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError, type DagTask, type Json } from '#model'
import { bind } from './bind.ts'
import { checkDag } from './check-dag.ts'
import { dagProgram } from './dag-program.ts'

const task = (id: string, more: Partial<DagTask> = {}): DagTask => ({ id, tool: 'a:b', ...more })

test('checkDag() refuses with all problems at once', () => {
  const bad: [tasks: unknown, problems: RegExp[]][] = [
    [undefined, [/list of at least one task/]],
    [[], [/list of at least one task/]],
    [
      [null, { id: 'x' }],
      [/task 1 is not an object/, /"x" names no tool/],
    ],
    [[task('a'), task('a')], [/"a" stands twice/]],
    [[task('a', { dependsOn: ['b', 'c'] })], [/needs "b"/, /needs "c"/]],
    [[task('a', { arguments: { x: { $from: 'z' } } })], [/needs "z"/]],
    [[task('a', { arguments: { x: 'hello {{z/y}}' } })], [/needs "z"/]],
    [
      [task('a', { dependsOn: ['b'] }), task('b', { arguments: { v: { $from: 'a' } } }), task('c')],
      [/"a", "b" wait for each other/],
    ],
    [[task('a', { dependsOn: ['a'] })], [/"a" wait for each other/]],
    [[{ ...task('a'), arguments: [] }], [/"a" has a "arguments"/]],
    [[{ ...task('a'), dependsOn: 'b' }], [/"a" has a "dependsOn"/]],
    [[task('a', { type: 'code_execution' })], [/"a" has no code/]],
    [[{ ...task('a'), type: 'shell' }], [/none of mcp_tool/]],
    [
      [{ ...task('a'), depends_on: ['b'], args: { x: 1 }, ForEach: {}, note: 'free' }],
      [/"depends_on", which is called "dependsOn"/, /"args", which is called "arguments"/, /"ForEach"/],
    ],
    [
      [{ ...task('a'), retry: { max: 99 }, timeoutMs: 0, when: { $from: 'a' }, forEach: 5, sideEffects: 1 }],
      [/"retry"/, /"timeoutMs"/, /"when"/, /"forEach"/, /"sideEffects"/],
    ],
  ]
  for (const [tasks, problems] of bad) {
    assert.throws(
      () => checkDag(tasks),
      (error: AppError) => {
        assert.equal(error.code, 'PLAN_INVALID')
        for (const problem of problems) assert.match(error.message, problem)
        return true
      },
    )
  }
})

test('bind() puts values in place, inside strings too, and leaves what is escaped', () => {
  const results = new Map<string, Json>([
    ['t', { content: 'hi', list: [{ id: 7 }] }],
    ['plain', 'text'],
  ])
  const table: [Json, Json][] = [
    [{ $from: 't', path: '/content' }, 'hi'],
    [{ $from: 'plain' }, 'text'],
    [{ deep: [{ $from: 't', path: '/list/0/id' }] }, { deep: [7] }],
    ['say {{t/content}} and {{t/list}}', 'say hi and [{"id":7}]'],
    ['\\{{t/content}}', '{{t/content}}'],
    [{ $literal: { $from: 't' } }, { $from: 't' }],
    [
      { a: null, b: 1.5, c: true },
      { a: null, b: 1.5, c: true },
    ],
  ]
  for (const [given, expected] of table) assert.deepEqual(bind(given, results), expected)
  assert.throws(() => bind({ $from: 't', path: '/nothing' }, results), { code: 'PLAN_INVALID' })
})

test('dagProgram() issues what is ready, once, and ends with the results that nothing needs', async () => {
  const program = dagProgram([
    task('one'),
    task('two'),
    task('sum', { arguments: { a: { $from: 'one' }, b: { $from: 'two' } } }),
    task('last', { dependsOn: ['two'] }),
  ])
  const names = (turn: { calls: { task?: string }[] }) => turn.calls.map((call) => call.task)
  assert.deepEqual(names(await program.start()), ['one', 'two'])
  assert.deepEqual(names(await program.deliver({ call: 2, ok: true, text: '2', now: 0 })), ['last'])
  const third = await program.deliver({ call: 1, ok: true, text: '1', now: 0 })
  assert.deepEqual(third.calls, [{ tool: 'a:b', args: '{"a":1,"b":2}', task: 'sum' }])
  assert.equal((await program.deliver({ call: 4, ok: true, text: '3', now: 0 })).end, undefined)
  const { end } = await program.deliver({ call: 3, ok: true, text: '"x"', now: 0 })
  assert.deepEqual(end, { ok: true, value: '{"sum":3,"last":"x"}' })
})

test('dagProgram() ends with the first error and delivers nothing after it', async () => {
  const program = dagProgram([task('one'), task('two'), task('three', { dependsOn: ['one'] })])
  await program.start()
  const text = JSON.stringify(new AppError('TOOL_ERROR', 'no', {}).toJSON())
  const { end, calls } = await program.deliver({ call: 1, ok: false, text, now: 0 })
  assert.deepEqual(calls, [])
  assert.deepEqual(end, {
    ok: false,
    error: { code: 'TOOL_ERROR', message: 'no', context: { task: 'one' }, fate: 'correct' },
  })
  assert.deepEqual(await program.deliver({ call: 2, ok: true, text: '1', now: 0 }), { calls: [], logs: [] })
})

const text = (value: Json) => JSON.stringify(value)
const toolError = text({ code: 'TOOL_ERROR', message: 'no', context: {}, fate: 'correct' })

test('dagProgram() skips a task whose condition is false, with what depends on it', async () => {
  const program = dagProgram([
    task('a'),
    task('yes', { when: { $from: 'a', path: '', equals: { k: [null], n: 1 } } }),
    task('no', { when: { $from: 'a', path: '/n', equals: 2 } }),
    task('after', { dependsOn: ['no'] }),
    task('there', { when: { $from: 'a', path: '/m', exists: false } }),
  ])
  await program.start()
  const { calls } = await program.deliver({ call: 1, ok: true, text: '{"n":1,"k":[null]}', now: 0 })
  assert.deepEqual(
    calls.map((call) => call.task),
    ['yes', 'there'],
  )
  await program.deliver({ call: 2, ok: true, text: '"y"', now: 0 })
  const { end } = await program.deliver({ call: 3, ok: true, text: '"t"', now: 0 })
  assert.deepEqual(end, { ok: true, value: '{"yes":"y","there":"t"}' })
})

test('dagProgram() calls once for each item and keeps their order', async () => {
  const program = dagProgram([
    task('a'),
    task('each', { forEach: { $from: 'a', path: '/list' }, arguments: { id: { $item: '/id' } } }),
  ])
  await program.start()
  const { calls } = await program.deliver({ call: 1, ok: true, text: text({ list: [{ id: 5 }, { id: 6 }] }), now: 0 })
  assert.deepEqual(
    calls.map((call) => call.args),
    ['{"id":5}', '{"id":6}'],
  )
  await program.deliver({ call: 3, ok: true, text: '"six"', now: 0 })
  const { end } = await program.deliver({ call: 2, ok: true, text: '"five"', now: 0 })
  assert.deepEqual(end, { ok: true, value: '["five","six"]' })
})

test('dagProgram() goes on at once where there is no item, and refuses what is no list', async () => {
  const tasks = [
    task('a'),
    task('each', { forEach: { $from: 'a' } }),
    task('z', { arguments: { all: { $from: 'each' } } }),
  ]
  const empty = dagProgram(tasks)
  await empty.start()
  assert.deepEqual((await empty.deliver({ call: 1, ok: true, text: '[]', now: 0 })).calls, [
    { tool: 'a:b', args: '{"all":[]}', task: 'z' },
  ])
  const wrong = dagProgram(tasks)
  await wrong.start()
  const { end } = await wrong.deliver({ call: 1, ok: true, text: '{}', now: 0 })
  assert.ok(end?.ok === false && end.error.code === 'PLAN_INVALID')
})

test("dagProgram() repeats a tool's own error as often as the task says, after a pause that grows", async () => {
  const program = dagProgram([task('a', { retry: { max: 2, backoffMs: 10 } })])
  await program.start()
  const pause = (call: number) => program.deliver({ call, ok: false, text: toolError, now: 0 })
  const again = (call: number) => program.deliver({ call, ok: true, text: 'null', now: 0 })
  assert.deepEqual((await pause(1)).calls, [{ tool: 'metier:timer', args: '{"ms":10}', task: 'a' }])
  assert.deepEqual((await again(2)).calls, [{ tool: 'a:b', args: '{}', task: 'a' }])
  assert.deepEqual((await pause(3)).calls, [{ tool: 'metier:timer', args: '{"ms":20}', task: 'a' }])
  await again(4)
  const { end } = await pause(5)
  assert.ok(end?.ok === false && end.error.context.task === 'a')
})

test('dagProgram() lets a pure operation fail alone, unless something depends on it or nothing else is left', async () => {
  const operation = (id: string, more: Partial<DagTask> = {}) => task(id, { tool: 'code:trim', ...more })
  const failing = async (tasks: DagTask[], call = 1) => {
    const program = dagProgram(tasks)
    const { calls } = await program.start()
    const turn = await program.deliver({ call, ok: false, text: toolError, now: 0 })
    return { calls, turn, program }
  }
  const alone = await failing([operation('op'), task('a'), task('b')])
  assert.deepEqual(alone.calls[0], {
    tool: 'code:trim',
    args: '{}',
    task: 'op',
    code: 'return args.input.trim(...(args.args ?? []))',
  })
  assert.equal(alone.turn.end, undefined)
  await alone.program.deliver({ call: 2, ok: true, text: '1', now: 0 })
  const { end } = await alone.program.deliver({ call: 3, ok: true, text: '2', now: 0 })
  assert.deepEqual(end, { ok: true, value: '{"a":1,"b":2}' })
  const needed = await failing([operation('op'), task('a', { dependsOn: ['op'] })])
  assert.equal(needed.turn.end?.ok, false)
  const last = await failing([operation('op')])
  assert.ok(last.turn.end?.ok === false && last.turn.end.error.context.task === 'op')
})
