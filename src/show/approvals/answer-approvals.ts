/** Asks the person at the terminal about calls that wait, and passes on what their keys say. */
import { AppError, escapeInvisible, type Json, type JsonObject } from '#model'
import type { Context, Terminal } from '#show/cli'
import { bad, good, strong } from '#show/cli'
import { questionText } from '#show/text'
import { type Approval, argumentsLine, type Decision, type ExecuteAnswer, type Question, type Verbs } from '#verbs'

/**
 * What became of one question: answered here, left open by the person, or closed elsewhere or by
 * time.
 */
type Outcome = 'answered' | 'left' | 'elsewhere'

const keys = `${strong('y')} once · ${strong('r')} for this run · ${strong('a')} always · ${strong('n')} no · ${strong('e')} edit · ${strong('s')} leave it open`

/** Shows each question as it comes and waits for a key, until the command is stopped. */
export async function answerAll(context: Context, verbs: Verbs, terminal: Terminal): Promise<void> {
  const left = new Set<string>()
  let change = Promise.withResolvers<void>()
  const unsubscribe = verbs.onChange(() => change.resolve())
  context.signal.addEventListener('abort', () => change.resolve(), { once: true })
  // The record is asked in the background, which keeps no process alive.
  const alive = setInterval(() => {}, 60_000)
  context.note('Each question is shown as it comes. Stop with Ctrl-C.')
  while (!context.signal.aborted) {
    change = Promise.withResolvers()
    const open = verbs.approvals().find(({ id }) => !left.has(String(id)))
    if (open === undefined) await change.promise
    else if ((await askOne(context, verbs, terminal, open, true)) === 'left') left.add(String(open.id))
  }
  clearInterval(alive)
  unsubscribe()
}

/** An answer of execute, after the person was asked whatever its run asks. */
export async function askWhileWaiting(context: Context, pending: Promise<ExecuteAnswer>): Promise<ExecuteAnswer> {
  const { terminal, signal } = context
  let answer = await pending
  if (terminal === null) return answer
  const verbs = await context.verbs()
  while (answer.status === 'approval_required' && !signal.aborted) {
    const outcomes: Outcome[] = []
    for (const question of answer.approvals) {
      outcomes.push(await askOne(context, verbs, terminal, question, false))
      if (outcomes.includes('left')) return verbs.answer(String(answer.run))
    }
    answer = await verbs.resume(String(answer.run), context.caller)
  }
  return answer
}

/** `goOn` is whether the answer also resumes a run without an owner. */
async function askOne(
  context: Context,
  verbs: Verbs,
  terminal: Terminal,
  open: Approval,
  goOn: boolean,
): Promise<Outcome> {
  const named = (await verbs.withPlannedTools([open]))[0]!
  context.note(`${questionText(named)}\n  ${keys}`)
  const over = new AbortController()
  const isOver = verbs.whenAnswered(named.id, AbortSignal.any([over.signal, context.signal]))
  void isOver.then((isAnswered) => isAnswered && over.abort())
  const signal = AbortSignal.any([over.signal, context.signal])
  try {
    for (;;) {
      const decision = await readDecision(context, terminal, named, signal)
      if (decision === 'left' || context.signal.aborted) return 'left'
      if (decision === null) return said(context, 'it was answered elsewhere, or nobody answered in time', 'elsewhere')
      const problem = await problemOf(verbs.decide(named.id, decision, { ...context.caller, waitMs: 0 }, goOn))
      if (problem === null) return said(context, `${good('✓')} recorded`, 'answered')
      context.note(`${bad('✗')} ${escapeInvisible(problem)}\n  ${keys}`)
    }
  } finally {
    over.abort()
  }
}

function said(context: Context, text: string, outcome: Outcome): Outcome {
  context.note(`  ${text}`)
  return outcome
}

/** Null where the question is closed; a key that means nothing is not heard. */
async function readDecision(
  context: Context,
  terminal: Terminal,
  question: Question,
  over: AbortSignal,
): Promise<Decision | 'left' | null> {
  for (;;) {
    const key = await terminal.key(over)
    if (key === null || over.aborted) return null
    const decision = await decisionOf(context, terminal, question, key.toLowerCase(), over)
    if (decision !== null) return decision
  }
}

async function decisionOf(
  context: Context,
  terminal: Terminal,
  question: Question,
  key: string,
  over: AbortSignal,
): Promise<Decision | 'left' | null> {
  if (key === 'y') return { answer: 'approved', scope: 'once' }
  if (key === 'r') return { answer: 'approved', scope: 'run' }
  if (key === 'a') return { answer: 'approved', scope: 'always' }
  if (key === 'n') return { answer: 'denied' }
  if (key === 's' || key === '\u0004') return 'left'
  if (key !== 'e') return null
  const { text, isWhole } = argumentsLine(question)
  if (!isWhole) {
    context.note(`  these are too long to be edited here: ${question.command} --edit JSON`)
    return null
  }
  const line = await terminal.line('  arguments: ', text, over)
  const args = line === null ? undefined : parsed(context, line)
  return args === undefined ? null : { answer: 'approved', scope: 'once', args }
}

function parsed(context: Context, line: string): Json | undefined {
  try {
    return JSON.parse(line)
  } catch (error) {
    context.note(`${bad('✗')} this is not JSON: ${escapeInvisible((error as Error).message)}\n  ${keys}`)
    return undefined
  }
}

/** What was wrong with the decision; one that came second is told like one that cannot be. */
async function problemOf(decided: Promise<JsonObject>): Promise<string | null> {
  try {
    await decided
    return null
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}
