/** Graphs that differ in the names of their tasks and in values have one shape. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DagTask } from '#model'
import { shapeOfPlan } from './shape.ts'

let count = 0
const shapeOf = (tasks: DagTask[]) => shapeOfPlan({ kind: 'dag', tasks }, String(count++))!

const graph = (first: string, value: string, code: string): DagTask[] => [
  { id: first, tool: 'fx:read', arguments: { key: value } },
  {
    id: 'last',
    tool: 'code',
    type: 'code_execution',
    code,
    arguments: { text: `of {{${first}/value}}`, all: { $from: first, path: '/value' } },
    when: { $from: first, path: '/value', exists: true },
    dependsOn: [first],
  },
]

test('shapeOfPlan() is blind to ids of tasks, values, and the wording of their programs', () => {
  const one = shapeOf(graph('a', 'apples', `return args.all // all`))
  const other = shapeOf(graph('b', 'pears', `return (args.all);`))
  assert.equal(one.digest, other.digest)
  assert.deepEqual([one.literals, other.literals], [['apples'], ['pears']])
  assert.notEqual(one.digest, shapeOf(graph('a', 'apples', `return [args.all]`)).digest)
  const [first, last] = graph('a', 'apples', `return args.all`)
  assert.notEqual(one.digest, shapeOf([first!, { ...last!, when: { $from: 'a', path: '/key', exists: true } }]).digest)
  assert.notEqual(one.digest, shapeOf([first!, { ...last!, arguments: { ...last!.arguments, text: 'of it' } }]).digest)
})
