/** Flows of programs whose truth is known, since the test wrote both the program and its calls. */
import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '#model'
import { flowsOfRun } from './flows-of-run.ts'
import type { Lesson, LessonCall } from './lesson.ts'
import { rebuildGraph } from './rebuild-graph.ts'

function lesson(code: string, calls: LessonCall[]): Lesson {
  const plan = { kind: 'code', code } as const
  const ends = { status: 'done', ms: 1, teaches: 'capability' } as const
  const asked = { intent: 'do it', subject: null, actor: 'cli', mode: 'run', args: {} } as const
  return { run: 'r', at: '', plan, planDigest: code, calls, operations: [], ...asked, ...ends }
}

/** One after the other, each on a place of its own on the run's clock. */
function called(tool: string, args: Json, result: Json, at: number): LessonCall {
  const times = { start: at * 10, end: at * 10 + 5, ms: 1 }
  return { id: String(at), tool, args, result, ok: true, ...times, definition: null, program: '' }
}

/** Numbers that a seed gives. */
function dice(seed: number): (sides: number) => number {
  let state = seed * 2654435761 + 1
  return (sides) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

type MadeProgram = { code: string; calls: LessonCall[]; truth: string[] }

/** A program of some calls: every value is one of three, so that equality alone says nothing. */
function generate(seed: number): MadeProgram {
  const roll = dice(seed)
  const small = () => roll(3)
  const lines: string[] = []
  const calls: LessonCall[] = []
  const truth: string[] = []
  const results: { id: number; flag: boolean; items: { v: number }[] }[] = []
  for (let at = 1; at <= 3 + roll(5); at++) {
    const given: Record<string, Json> = {}
    const written: string[] = []
    for (const name of ['a', 'b', 'c'].slice(0, 1 + roll(3))) {
      const from = at > 1 ? 1 + roll(at - 1) : 0
      const kind = from === 0 ? 0 : roll(5)
      const source = results[from - 1]!
      if (kind <= 1) {
        given[name] = small()
        written.push(`${name}: ${given[name]}`)
      } else if (kind === 2) {
        given[name] = source.id
        written.push(`${name}: r${from}.id`)
        truth.push(`${from}/id ${at}/${name}`)
      } else if (kind === 3) {
        given[name] = source.items[1]!.v
        written.push(`${name}: r${from}.items[1].v`)
        truth.push(`${from}/items/1/v ${at}/${name}`)
      } else {
        given[name] = `n-${source.id}`
        written.push(`${name}: \`n-\${r${from}.id}\``)
        truth.push(`${from}/id ${at}/${name}`)
      }
    }
    const tool = `t${roll(3)}`
    lines.push(`const r${at} = await mcp.s.${tool}({ ${written.join(', ')} })`)
    results.push({ id: small(), flag: true, items: [{ v: small() }, { v: small() }] })
    calls.push(called(`s:${tool}`, given, results.at(-1)!, at))
  }
  return { code: `${lines.join('\n')}\nreturn 1`, calls, truth }
}

const programs = process.env.LONG === '1' ? 1000 : 150

test(`flowsOfRun() finds the flows of ${programs} generated programs with small colliding values`, () => {
  let [right, found, meant] = [0, 0, 0]
  for (let seed = 1; seed <= programs; seed++) {
    const { code, calls, truth } = generate(seed)
    const flows = flowsOfRun(lesson(code, calls)).map(({ from, to }) => `${from.call}${from.path} ${to.call}${to.path}`)
    right += flows.filter((flow) => truth.includes(flow)).length
    found += flows.length
    meant += truth.length
  }
  const f1 = (200 * right) / (found + meant)
  assert.ok(f1 >= 99.9, `F1 ${f1.toFixed(2)}: ${right} right of ${found} found and ${meant} meant`)
})

test('flowsOfRun() follows a loop turn by turn, and rebuildGraph() says that it is no graph', () => {
  const code = `
    const list = await mcp.s.list({})
    for (const one of list.items) {
      const found = await mcp.s.get({ id: one.id })
      await mcp.s.put({ value: found.value })
    }`
  const items = [{ id: 1 }, { id: 2 }]
  const turns = items.flatMap(({ id }, turn) => [
    called('s:get', { id }, { value: 7 }, 2 + 2 * turn),
    called('s:put', { value: 7 }, null, 3 + 2 * turn),
  ])
  const run = lesson(code, [called('s:list', {}, { items }, 1), ...turns])
  assert.deepEqual(
    flowsOfRun(run).map(({ from, to }) => [from.call, from.path, to.call, to.path]),
    [
      ['1', '/items/0/id', '2', '/id'],
      ['1', '/items/1/id', '4', '/id'],
      ['2', '/value', '3', '/value'],
      ['4', '/value', '5', '/value'],
    ],
  )
  const loop = {
    form: 'for-of',
    line: 3,
    arms: [{ arm: 'body', tools: ['s:get', 's:put'], calls: ['2', '4', '3', '5'] }],
  }
  const why = 'it makes calls in a loop; "execute --explore" shows the paths of its program'
  assert.deepEqual(rebuildGraph(run), { why, loops: [loop], branches: [] })
})

test('rebuildGraph() binds what was handed on and computes what the program computed', () => {
  const code = `
    const found = await mcp.s.find({ day: 'may' })
    const unused = found.items.length
    return mcp.s.mail({ to: found.owner.mail, text: \`Order \${found.id}\` })`
  const run = lesson(code, [
    called('s:find', { day: 'may' }, { id: 4, owner: { mail: 'a@b' } }, 1),
    called('s:mail', { to: 'a@b', text: 'Order 4' }, true, 2),
  ])
  const { tasks, ...rest } = rebuildGraph({ ...run, result: true }) as Extract<
    ReturnType<typeof rebuildGraph>,
    { tasks: unknown }
  >
  assert.deepEqual(rest, { fixed: [], branches: [], repeats: [] })
  const [first, made, last] = tasks
  assert.deepEqual(first, { id: 'c1', tool: 's:find', arguments: { day: 'may' } })
  assert.deepEqual(
    [made!.id, made!.type, made!.arguments],
    ['a2', 'code_execution', { calls: [{ tool: 's:find', result: { $from: 'c1' } }] }],
  )
  assert.match(made!.code!, /text: `Order \$\{found\.id\}`/)
  assert.deepEqual(last, {
    id: 'c2',
    tool: 's:mail',
    arguments: { to: { $from: 'c1', path: '/owner/mail' }, text: { $from: 'a2', path: '/text' } },
    dependsOn: ['c1'],
  })
  assert.equal(tasks.length, 3, 'what the last call answers is the result')
})

test('rebuildGraph() keeps what chance and time made as its value, and shows the arm that was taken', () => {
  const code = `
    const found = await mcp.s.find({ at: Date.now() })
    if (found.id > 3) await mcp.s.mail({ text: 'many ' + found.id + Math.random() })
    else await mcp.s.drop({ id: found.id })
    return { id: found.id, at: Date.now() }`
  const calls = [called('s:find', { at: 17 }, { id: 4 }, 1), called('s:mail', { text: 'many 40.5' }, true, 2)]
  const result = { id: 4, at: 18 }
  const { tasks, fixed, branches } = rebuildGraph({ ...lesson(code, calls), result }) as never as {
    tasks: { id: string; arguments: Json }[]
    fixed: string[]
    branches: Json[]
  }
  assert.deepEqual(fixed, ['2 /text', 'result'])
  assert.deepEqual(
    tasks.map(({ id, arguments: args }) => [id, args]),
    [
      ['c1', { at: 17 }],
      ['c2', { text: 'many 40.5' }],
      ['result', { value: { $literal: result } }],
    ],
  )
  const arms = [
    { arm: 'then', tools: ['s:mail'], calls: ['2'] },
    { arm: 'else', tools: ['s:drop'], calls: [] },
  ]
  assert.deepEqual(branches, [{ form: 'if', line: 3, condition: 'found.id > 3', arms }])
})
