/**
 * Asks the host's own human about the calls of a run, one question after the other, in whichever
 * way the client's era has for it. A client that closes a form without an answer is told how to
 * answer elsewhere, and is not asked that again.
 */
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/server'
import { limits, toAppError } from '#model'
import { type Approval, type Caller, decisionFault, type ExecuteAnswer, type Verbs } from '#verbs'
import { parseReply, type Reply } from './form.ts'
import { type FormChannel, FormRequired, type FormState, type Forms, type Step } from './form-channel.ts'

/** The same verbs, whose execute() asks the client's human whatever the run asks. */
export function withElicitation(verbs: Verbs, forms: Forms, asker: FormChannel | null): Verbs {
  if (asker === null) return verbs
  return { ...verbs, execute: (input, caller) => elicitLoop({ verbs, forms, asker, caller }, input) }
}

type Elicitation = { verbs: Verbs; forms: Forms; asker: FormChannel; caller: Caller }

/**
 * What came of a form: an answer that holds (or is not needed any more), none, or another form
 * about the same question.
 */
type Outcome = { kind: 'taken' } | { kind: 'closed' } | ({ kind: 'again'; approval: string } & Omit<Step, 'round'>)

/**
 * Each round is one form. What is open at the end stands in the answer, with its link and its
 * command.
 *
 *   choice ──once, run, always, deny──► taken        choice, arguments ──closed──► closed
 *   choice ──change──► arguments ──readable──► taken
 *                      arguments ──unreadable──► arguments, at most twice ──► closed,
 *                                                and the answer says so
 */
async function elicitLoop(talk: Elicitation, input: unknown): Promise<ExecuteAnswer> {
  const { verbs, forms, asker, caller } = talk
  const { back } = asker
  const known: Caller = { ...caller, questionMs: 0, seen: forms.closed }
  let outcome: Outcome = back === null ? { kind: 'taken' } : await takeBack(talk, back)
  if (outcome.kind === 'closed') return left(talk, back!.run)
  let answer = await verbs.execute(back === null ? input : { resume: back.run }, known)
  for (let round = back?.round ?? 0; round < limits.formsPerRequestMax; round++) {
    const question = nextQuestion(answer, talk, outcome)
    if (question === undefined) break
    const again = outcome.kind === 'again' && outcome.approval === question.id ? outcome : firstForm
    outcome = await ask(talk, question, { ...again, round: round + 1 })
    if (outcome.kind === 'closed') return left(talk, question.run)
    answer = await verbs.execute({ resume: question.run }, known)
  }
  return withNotes(answer, forms)
}

const firstForm = { form: 'choice', unreadable: 0, problem: null } as const

/** How the run stands, with what became of the forms of its questions. */
function left({ verbs, forms }: Elicitation, run: string): ExecuteAnswer {
  return withNotes(verbs.answer(run), forms)
}

/**
 * A question that was answered unreadably says so to the agent, who tells its human where else to
 * answer.
 */
function withNotes(answer: ExecuteAnswer, { unreadable }: Forms): ExecuteAnswer {
  if (answer.approvals === undefined || unreadable.size === 0) return answer
  const approvals = answer.approvals.map((question) => {
    const problem = unreadable.get(question.id)
    if (problem === undefined) return question
    const where = question.url === null ? question.command : `${question.url} or ${question.command}`
    const note = `The form was answered ${limits.unreadableAnswersMax} times in a way that cannot be read (${problem}). The question stays open: ${where}`
    return { ...question, note }
  })
  return { ...answer, approvals }
}

/** Without a page there is no address to show. */
function nextQuestion(
  { approvals = [] }: ExecuteAnswer,
  { forms, asker }: Elicitation,
  outcome: Outcome,
): Approval | undefined {
  const { closed, shown } = forms
  const canBeShown = ({ id, url }: Approval) =>
    !closed.has(id) && !shown.has(id) && (asker.mode === 'form' || url !== null)
  const open = approvals.filter(canBeShown)
  return open.find(({ id }) => outcome.kind === 'again' && id === outcome.approval) ?? open[0]
}

/**
 * The form stands until the human answers it, the question is answered elsewhere or expires, or the
 * request is cancelled.
 */
async function ask(talk: Elicitation, question: Approval, step: Step): Promise<Outcome> {
  const { verbs, forms, asker, caller } = talk
  const over = new AbortController()
  const signals = [over.signal, ...(caller.signal === undefined ? [] : [caller.signal])]
  forms.shown.add(question.id)
  try {
    const [named] = await verbs.withPlannedTools([question])
    const shown = asker.show(named!, step, over.signal)
    shown.catch(() => {})
    const elsewhere = verbs.whenAnswered(question.id, AbortSignal.any(signals))
    const reply = await Promise.race([shown, elsewhere])
    if (reply === true) return { kind: 'taken' }
    if (reply !== false) return await take(talk, question, step, reply)
    await verbs.cancel(question.run, caller, 'the request was cancelled')
    return { kind: 'closed' }
  } catch (error) {
    if (error instanceof FormRequired) throw error
    return close(forms, question.id, SdkError.isInstance(error) && error.code === SdkErrorCode.ConnectionClosed)
  } finally {
    over.abort()
    forms.shown.delete(question.id)
  }
}

async function takeBack(
  talk: Elicitation,
  { approval, reply, ...step }: FormState & { reply: Reply },
): Promise<Outcome> {
  const question = talk.verbs.approvals().find(({ id }) => id === approval)
  return question === undefined ? { kind: 'taken' } : take(talk, question, step, reply)
}

async function take(
  talk: Elicitation,
  question: Approval,
  step: Omit<Step, 'problem'>,
  reply: Reply,
): Promise<Outcome> {
  const { verbs, forms, asker, caller } = talk
  if (asker.mode === 'url' && reply.action === 'accept') return awaitPage(talk, question)
  try {
    const meaning = parseReply(question, step.form, reply)
    if (meaning.kind === 'nothing') return close(forms, question.id, false)
    if (meaning.kind === 'change') return again(question, { ...step, form: 'arguments', problem: null })
    await verbs.decide(question.id, meaning.decision, caller, false)
    return { kind: 'taken' }
  } catch (error) {
    const fault = decisionFault(error)
    if (fault === 'arguments') return unreadable(forms, question, step, toAppError(error).message)
    if (fault === 'question') return { kind: 'taken' }
    throw error
  }
}

const again = ({ id }: Approval, { form, unreadable, problem }: Omit<Step, 'round'>): Outcome => ({
  ...{ kind: 'again', approval: id },
  ...{ form, unreadable, problem },
})

/**
 * A host that damages every answer would be asked for ever: then the question stays open elsewhere.
 */
function unreadable(forms: Forms, question: Approval, step: Omit<Step, 'problem'>, problem: string): Outcome {
  const count = step.unreadable + 1
  if (count < limits.unreadableAnswersMax) return again(question, { ...step, unreadable: count, problem })
  forms.unreadable.set(question.id, problem)
  return close(forms, question.id, false)
}

/**
 * The human opens the page; what is not answered there in time stays open, and the client is told
 * how to go on.
 */
async function awaitPage({ verbs, forms, caller }: Elicitation, question: Approval): Promise<Outcome> {
  const wait = AbortSignal.timeout(limits.executeWaitMsDefault)
  const signal = caller.signal === undefined ? wait : AbortSignal.any([wait, caller.signal])
  if (await verbs.whenAnswered(question.id, signal)) return { kind: 'taken' }
  if (caller.signal?.aborted) await verbs.cancel(question.run, caller, 'the request was cancelled')
  return close(forms, question.id, false)
}

/** A client that has only gone may be asked again when it is back. */
function close({ closed }: Forms, approval: string, isGone: boolean): Outcome {
  if (!isGone) closed.add(approval)
  if (closed.size > limits.closedFormsMax) closed.delete(closed.values().next().value!)
  return { kind: 'closed' }
}
