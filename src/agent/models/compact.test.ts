/** What a request shows of the past: all while it fits, then the ends of what is old. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { compact, type Step } from './compact.ts'
import type { Message } from './model.ts'

const goal: Message[] = [{ role: 'user', text: 'the goal' }]

function stepOf(n: number, output: string): Step {
  const answer: Message = {
    role: 'assistant',
    text: `answer ${n}`,
    toolCalls: [{ id: `c${n}`, name: 'discover', args: {} }],
  }
  const replies: Message[] = [
    { role: 'tool', text: 'found', toolCallId: `c${n}` },
    { role: 'user', text: output },
  ]
  return {
    answer,
    replies,
    thought: `thought ${n}`,
    streams: [{ name: 'STDOUT', text: output, place: `in artifacts/${n}` }],
  }
}

const steps = (count: number, output: string) => Array.from({ length: count }, (_, n) => stepOf(n, output))

test('compact() leaves a history whole that fits', () => {
  const history = { system: 's', goal, steps: steps(5, 'short') }
  assert.deepEqual(compact(history, 200_000), [
    ...goal,
    ...history.steps.flatMap(({ answer, replies }) => [answer, ...replies]),
  ])
})

test('compact() shortens all but the last three steps beyond 60 % of the window', () => {
  const output = `HEAD${'x'.repeat(4000)}TAIL`
  const history = { system: 's', goal, steps: steps(6, output) }
  const messages = compact(history, 8000)
  assert.deepEqual(messages[0], goal[0])
  assert.deepEqual(
    messages.slice(-9),
    history.steps.slice(3).flatMap(({ answer, replies }) => [answer, ...replies]),
  )
  const old = messages.slice(1, -9)
  assert.deepEqual(
    old.map(({ role }) => role),
    ['assistant', 'user', 'assistant', 'user', 'assistant', 'user'],
  )
  assert.deepEqual(old[0], { role: 'assistant', text: 'thought 0' })
  const { text } = old[1]!
  assert.ok(text.includes(`HEAD${'x'.repeat(496)}\n`) && text.includes(`\n${'x'.repeat(496)}TAIL`), text)
  assert.ok(
    text.includes('all of it is in artifacts/0') && text.includes('3008 characters left out') && text.length < 1200,
  )
  assert.ok(!JSON.stringify(old).includes('toolCall'))
})

test('compact() begins at 60 % of the window, and at 768 KB whatever the window', () => {
  const size = (history: Parameters<typeof compact>[0], window: number) =>
    JSON.stringify(compact(history, window)).length
  const history = { system: 's', goal, steps: steps(5, 'y'.repeat(6000)) }
  const tokens = Math.ceil((1 + JSON.stringify(compact(history, 1e9)).length) / 3)
  const edge = Math.ceil(tokens / 0.6)
  assert.ok(size(history, edge) > 30_000)
  assert.ok(size(history, edge - 2) < 25_000)
  const large = { system: 's', goal, steps: steps(5, 'z'.repeat(160 * 1024)) }
  assert.ok(size(large, 1e9) < 500 * 1024)
})

test('compact() keeps one answer for each call of the model, and gives the same each time', () => {
  const history = { system: 's', goal, steps: steps(9, '🦉'.repeat(2001)) }
  const messages = compact(history, 1000)
  assert.equal(messages.filter(({ role }) => role === 'assistant').length, 9)
  assert.deepEqual(messages, compact(structuredClone(history), 1000))
  assert.ok(messages.every(({ text }) => text.isWellFormed()))
})
