/** A graph of tasks: what is refused before it runs, how values are bound, and in which order calls are issued. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError, type DagTask, type Json } from '#model'
import { bind, checkDag, dagProgram } from './dag.ts'

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
    [[{ ...task('a'), arguments: [] }], [/arguments of task "a"/]],
    [[{ ...task('a'), dependsOn: 'b' }], [/"dependsOn" of task "a"/]],
    [[task('a', { type: 'code_execution' })], [/only "mcp_tool"/]],
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
