/**
 * Plays a program to its end, for the tests of this folder: every call is answered, in the order
 * that the test wants.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Delivery, IssuedCall, LogLine, ProgramEnd, Turn } from '#model'
import { type Boxes, openBoxes, type ProgramOptions, prepareProgram } from './sandbox.ts'

export const seed = '0123456789abcdef'.repeat(4)
export const startedAt = Date.UTC(2026, 0, 2, 3, 4, 5)

/** Tests of what every engine does run once more with another one: see `v8-guest.test.ts`. */
export const engine = process.env.METIER_TEST_ENGINE === 'v8' ? 'v8' : 'quickjs'

export type Open = IssuedCall & { number: number }
/** A value, or an error as the record holds it. */
export type Answer = { ok: true; value: unknown } | { ok: false; code: string; message: string; context?: object }

export type PlayOptions = Partial<Pick<ProgramOptions, 'args' | 'seed' | 'now' | 'isTraced' | 'limits'>> & {
  answer?: (call: Open) => Answer
  /** Which of the open calls is answered next. */
  next?: (open: Open[]) => number
}

export type Played = {
  end: ProgramEnd | null
  calls: IssuedCall[]
  logs: LogLine[]
  turns: Turn[]
  deliveries: Delivery[]
}

export const echo = ({ args }: Open): Answer => ({ ok: true, value: JSON.parse(args) })

export function textOf(answer: Answer): string {
  if (answer.ok) return JSON.stringify(answer.value)
  const { code, message, context = {} } = answer
  return JSON.stringify({ code, message, context, fate: 'correct' })
}

export function startOptions(code: string, options: PlayOptions = {}): ProgramOptions {
  const { source } = prepareProgram(code)
  const { args = '{}', now = startedAt, isTraced = true, limits } = options
  return { source, args, seed: options.seed ?? seed, now, isTraced, ...(limits ? { limits } : {}) }
}

/** What the engine answers to a call that the program could not say. */
function refusal({ tool, refused: details }: Open): Answer | null {
  if (details === undefined) return null
  const message = `Cannot call "${tool}": ${details}`
  return { ok: false, code: 'INVALID_INPUT_PARAM', message, context: { param: 'args', details } }
}

/** Until the end, or until nothing is open any more. */
export async function play(boxes: Boxes, code: string, options: PlayOptions = {}): Promise<Played> {
  const { answer = echo, next = () => 0 } = options
  const program = await boxes.program(startOptions(code, options))
  const played: Played = { end: null, calls: [], logs: [], turns: [], deliveries: [] }
  const open: Open[] = []
  const take = (turn: Turn) => {
    played.turns.push(turn)
    played.logs.push(...turn.logs)
    for (const call of turn.calls) open.push({ ...call, number: played.calls.push(call) })
    played.end = turn.end ?? null
  }
  take(await program.start())
  while (played.end === null && open.length > 0) {
    const [call] = open.splice(next(open), 1) as [Open]
    const given = refusal(call) ?? (call.tool === 'metier:timer' ? { ok: true, value: null } : answer(call))
    const now = startedAt + played.deliveries.length + 1
    const delivery = { call: call.number, ok: given.ok, text: textOf(given), now }
    played.deliveries.push(delivery)
    take(await program.deliver(delivery))
  }
  if (played.end === null) program.drop()
  return played
}

/** The value of a program that ends well. */
export async function resultOf(boxes: Boxes, code: string, options: PlayOptions = {}): Promise<unknown> {
  const { end } = await play(boxes, code, options)
  assert(end?.ok, `ended with ${JSON.stringify(end)}`)
  return JSON.parse(end.value)
}

/** The error of a program that does not. */
export async function errorOf(boxes: Boxes, code: string, options: PlayOptions = {}) {
  const { end } = await play(boxes, code, options)
  assert(end && !end.ok, `ended with ${JSON.stringify(end)}`)
  return end.error
}

test('play() answers every call of a program until it ends', async () => {
  const boxes = openBoxes()
  try {
    assert.deepEqual(await resultOf(boxes, 'return [await mcp.a.b({ n: 1 }), await tool("c:d", { n: 2 })]'), [
      { n: 1 },
      { n: 2 },
    ])
  } finally {
    await boxes.close()
  }
})
