/**
 * Tries another source for what a run was asked to do: each of its calls gets the answer that the
 * run had to the same call. Nothing is called, and no run begins. What the run never asked is not
 * known, and then nothing is said.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  type CapabilitySource,
  type IssuedCall,
  isReadOnly,
  type Json,
  limits,
  type Program,
  type ProgramEnd,
  type RunId,
  timerTool,
  toText,
} from '#model'
import { prepare } from '#run/program'
import { type Journal, leavesOf } from '#run/record'
import { planOfSource } from '#run/start'
import { type EngineContext, journalOf } from './engine-context.ts'
import type { Attempt } from './engine-parts.ts'

type Answer = { id: string; ok: boolean; text: string }
type Played = { end: ProgramEnd; asked: Set<string> }

export async function attemptRun(
  context: EngineContext,
  run: RunId,
  source: CapabilitySource,
  args: Json,
): Promise<Attempt> {
  const journal = journalOf(context, run)
  const { program } = await prepare(planOfSource(source, args), context.boxes, context.makers)
  const { seed } = journal.started
  const options = { args: toText(args), seed, now: journal.beganAt, isTraced: false }
  const opened =
    program.kind === 'made'
      ? program.make()
      : context.programs.ephemeral(() => context.boxes.program({ source: program.source, ...options }))
  const played = await play(opened, journal)
  return played === null ? 'unknown' : compare(played, journal, endOf(context, run))
}

/** Null where it asks what is not known. */
async function play(program: Program, journal: Journal): Promise<Played | null> {
  const answers = answersOf(journal)
  const waiting: { number: number; answer: Answer }[] = []
  const asked = new Set<string>()
  let issued = 0
  try {
    let turn = await program.start()
    for (;;) {
      if (turn.end !== undefined) return { end: turn.end, asked }
      for (const call of turn.calls) {
        const answer = answerTo(call, answers)
        issued += 1
        if (answer === undefined || issued > limits.attemptCallsMax) return null
        asked.add(answer.id)
        waiting.push({ number: issued, answer })
      }
      const next = waiting.shift()
      if (next === undefined) return null
      const { ok, text } = next.answer
      turn = await program.deliver({ call: next.number, ok, text, now: journal.beganAt })
    }
  } finally {
    program.drop()
  }
}

const timer: Answer = { id: '', ok: true, text: 'null' }

function answerTo(call: IssuedCall, answers: ReadonlyMap<string, Answer>): Answer | undefined {
  if (call.refused !== undefined || call.code !== undefined || call.tasks !== undefined) return undefined
  return call.tool === timerTool ? timer : answers.get(keyOf(call))
}

/** Of the run's own calls; of the same call twice the first answer. */
function answersOf({ calls, deliveries }: Journal): Map<string, Answer> {
  const answers = new Map<string, Answer>()
  for (const { program, delivery } of deliveries) {
    const call = program === '' ? calls.get(String(delivery.call)) : undefined
    if (call === undefined || answers.has(keyOf(call))) continue
    answers.set(keyOf(call), { id: call.id, ok: delivery.ok, text: delivery.text })
  }
  return answers
}

const keyOf = ({ tool, args }: { tool: string; args: string }) => `${tool} ${toText(inOrder(JSON.parse(args) as Json))}`

function inOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, inOrder(member as Json)]))
}

function endOf({ store }: EngineContext, run: RunId): { ok: boolean; value: Json } {
  const [finished] = store.events(run, { type: 'run.finished' })
  if (finished?.type !== 'run.finished') return { ok: false, value: null }
  const { status, result } = finished.body
  return { ok: status === 'done', value: result === undefined ? null : (store.value(result) as Json) }
}

/** Another form of the same values is no other result; a change that is not made is one. */
function compare({ end, asked }: Played, { calls }: Journal, run: { ok: boolean; value: Json }): Attempt {
  if (!run.ok) return end.ok ? 'repair' : 'tie'
  if (!end.ok) return 'regression'
  const left = [...calls.values()].filter(
    ({ id, effect }) => !id.includes('.') && effect !== null && !isReadOnly(effect) && !asked.has(id),
  )
  const isSame = left.length === 0 && haveSameValues(run.value, JSON.parse(end.value) as Json)
  return isSame ? 'tie' : 'regression'
}

function haveSameValues(one: Json, other: Json): boolean {
  if (isDeepStrictEqual(one, other)) return true
  const [left, right] = [one, other].map((value) => new Set(leavesOf(value).map((leaf) => JSON.stringify(leaf.value))))
  return left!.size > 0 && right!.size > 0 && (left!.isSubsetOf(right!) || right!.isSubsetOf(left!))
}
