/**
 * Asks the host's own human about the calls of a run, one question after the other, in whichever way the client's era has for it. A
 * client that closes a form without an answer is told how to answer elsewhere, and is not asked that again.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import {
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  SdkError,
  SdkErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Attendant } from '#catalog'
import { isObject, type JsonObject, limits, toAppError } from '#model'
import { homePaths } from '#record'
import type { Question } from '#verbs'
import { readToken } from './bearer.ts'
import { digestOf } from './exchange.ts'
import { type FormKind, formOf, linkOf, meaningOf, type Reply } from './form.ts'
import type { Caller, Verbs } from './verbs.ts'

/** What the forms of one gateway have in common, over all its connections. */
export type Forms = {
  codec: RequestStateCodec<FormState>
  /** Questions that a client closed without an answer. */
  closed: Set<string>
  /** Questions that stand in a form just now. */
  shown: Set<string>
  /** Questions whose form was answered unreadably as often as is borne, with what was wrong last. */
  unreadable: Map<string, string>
}

/** What a client of the newer era brings back with an answer: which question it was about, and of which request. */
type FormState = { run: string; approval: string; request: string } & Omit<Step, 'problem'>

/** One form of a conversation: the how-manieth it is, which one, and how often its question was answered unreadably. */
type Step = { round: number; form: FormKind; unreadable: number; problem: string | null }

/** Kept in the home, so that an answer to a form reaches the run also when the gateway that asked has died. */
export function formKey(home: string): string {
  if (home === '') return randomBytes(32).toString('base64url')
  return readToken(home, join(homePaths(home).keys, 'form-key'))
}

export function openForms(key: string): Forms {
  const bind = ({ http }: ServerContext) => http?.authInfo?.clientId ?? ''
  const codec = createRequestStateCodec<FormState>({ key, ttlSeconds: limits.approvalMsDefault / 1000, bind })
  return { codec, closed: new Set(), shown: new Set(), unreadable: new Map() }
}

/** What a client can show its human: a form of ours, or only the address of our page. */
type Mode = 'form' | 'url'

/** How one request can ask: by a request of our own while it is open, or by an answer that asks for another request. */
export type Asker = {
  mode: Mode
  /** The answer that came with this request, in the newer era. */
  back: (FormState & { reply: Reply }) | null
  show(question: Question, step: Step, over: AbortSignal): Promise<Reply>
}

/** Null where the client did not say that it can show anything. `params` are those of the request under way. */
export function askerOf(forms: Forms, context: ServerContext, declared: unknown, params: JsonObject): Asker | null {
  const { mcpReq } = context
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined
  const isModern = envelope !== undefined
  const capabilities = isModern ? envelope[CLIENT_CAPABILITIES_META_KEY] : declared
  const mode = modeOf(capabilities)
  if (mode === null) return null
  return isModern ? modernAsker(forms, context, mode, () => digestOf(params)) : legacyAsker(context, mode)
}

/** A form where that is possible: there everything is seen and answered in one place. */
function modeOf(capabilities: unknown): Mode | null {
  const { elicitation } = isObject(capabilities) ? capabilities : {}
  if (!isObject(elicitation)) return null
  return 'url' in elicitation && !('form' in elicitation) ? 'url' : 'form'
}

const requestOf = (mode: Mode, question: Question, { form, problem }: Step) =>
  mode === 'url' ? linkOf(question) : formOf(question, form, problem)

/** Where a question of a server has its way to the client already, ours goes the same way. */
export function askerBy(ask: NonNullable<Attendant['ask']>, capabilities: unknown): Asker | null {
  const mode = modeOf(capabilities)
  if (mode === null) return null
  const show: Asker['show'] = async (question, step) => {
    const params = requestOf(mode, question, step) as JsonObject
    return (await ask({ method: 'elicitation/create', params }, null)) as Reply
  }
  return { mode, back: null, show }
}

function legacyAsker({ mcpReq }: ServerContext, mode: Mode): Asker {
  return {
    mode,
    back: null,
    show: async (question, step, signal) => {
      const timeout = limits.approvalMsDefault
      const request = { method: 'elicitation/create' as const, params: requestOf(mode, question, step) }
      return (await mcpReq.send(request, { signal, timeout })) as Reply
    },
  }
}

/** The answer that asks: the handler ends with it, and the client comes back with another request. */
export class FormNeeded extends Error {
  readonly result: InputRequiredResult
  constructor(result: InputRequiredResult) {
    super('The client is asked for input')
    this.result = result
  }
}

function modernAsker({ codec }: Forms, context: ServerContext, mode: Mode, request: () => string): Asker {
  const { mcpReq } = context
  const state = mcpReq.requestState<FormState>()
  if (state !== undefined && state.request !== request())
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Cannot go on: the requestState is of another request')
  const given = inputResponse(mcpReq.inputResponses, 'approval')
  const reply: Reply = given.kind === 'elicit' ? given : { action: 'cancel' }
  return {
    mode,
    back: state === undefined ? null : { ...state, reply },
    show: async (question, { problem, ...step }) => {
      const { elicitationId: _, ...link } = linkOf(question)
      const shown =
        mode === 'url' ? inputRequired.elicitUrl(link) : inputRequired.elicit(formOf(question, step.form, problem))
      const { run, id: approval } = question
      const requestState = await codec.mint({ run, approval, request: request(), ...step }, context)
      throw new FormNeeded(inputRequired({ inputRequests: { approval: shown }, requestState }))
    },
  }
}

/** The same verbs, whose execute() asks the client's human whatever the run asks. */
export function asking(verbs: Verbs, forms: Forms, asker: Asker | null): Verbs {
  if (asker === null) return verbs
  return { ...verbs, execute: (input, caller) => converse({ verbs, forms, asker, caller }, input) }
}

type Talk = { verbs: Verbs; forms: Forms; asker: Asker; caller: Caller }

/** What came of a form: an answer that holds (or is not needed any more), none, or another form about the same question. */
type Outcome = { kind: 'taken' } | { kind: 'closed' } | ({ kind: 'again'; approval: string } & Omit<Step, 'round'>)

/**
 * Each round is one form. What is open at the end stands in the answer, with its link and its command.
 *
 *   choice ──once, run, always, deny──► taken        choice, arguments ──closed──► closed
 *   choice ──change──► arguments ──readable──► taken
 *                      arguments ──unreadable──► arguments, at most twice ──► closed, and the answer says so
 */
async function converse(talk: Talk, input: unknown): Promise<JsonObject> {
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
function left({ verbs, forms }: Talk, run: string): JsonObject {
  return withNotes(verbs.answer(run), forms)
}

/** A question that was answered unreadably says so to the agent, who tells its human where else to answer. */
function withNotes(answer: JsonObject, { unreadable }: Forms): JsonObject {
  if (!Array.isArray(answer.approvals) || unreadable.size === 0) return answer
  const approvals = (answer.approvals as unknown as Question[]).map((question) => {
    const problem = unreadable.get(question.id)
    if (problem === undefined) return question
    const where = question.url === null ? question.command : `${question.url} or ${question.command}`
    const note = `The form was answered ${limits.unreadableAnswersMax} times in a way that cannot be read (${problem}). The question stays open: ${where}`
    return { ...question, note }
  })
  return { ...answer, approvals: approvals as unknown as JsonObject[] }
}

/** Without a page there is no address to show. */
function nextQuestion({ approvals }: JsonObject, { forms, asker }: Talk, outcome: Outcome): Question | undefined {
  const { closed, shown } = forms
  const canBeShown = ({ id, url }: Question) =>
    !closed.has(id) && !shown.has(id) && (asker.mode === 'form' || url !== null)
  const open = ((approvals ?? []) as unknown as Question[]).filter(canBeShown)
  return open.find(({ id }) => outcome.kind === 'again' && id === outcome.approval) ?? open[0]
}

/** The form stands until the human answers it, the question is answered elsewhere or expires, or the request is cancelled. */
async function ask(talk: Talk, question: Question, step: Step): Promise<Outcome> {
  const { verbs, forms, asker, caller } = talk
  const over = new AbortController()
  const signals = [over.signal, ...(caller.signal === undefined ? [] : [caller.signal])]
  forms.shown.add(question.id)
  try {
    const [whole] = await verbs.named([question as unknown as JsonObject])
    const shown = asker.show(whole as unknown as Question, step, over.signal)
    shown.catch(() => {})
    const elsewhere = verbs.whenAnswered(question.id, AbortSignal.any(signals))
    const reply = await Promise.race([shown, elsewhere])
    if (reply === true) return { kind: 'taken' }
    if (reply !== false) return await take(talk, question, step, reply)
    await verbs.cancel(question.run, caller, 'the request was cancelled')
    return { kind: 'closed' }
  } catch (error) {
    if (error instanceof FormNeeded) throw error
    return close(forms, question.id, SdkError.isInstance(error) && error.code === SdkErrorCode.ConnectionClosed)
  } finally {
    over.abort()
    forms.shown.delete(question.id)
  }
}

async function takeBack(talk: Talk, { approval, reply, ...step }: FormState & { reply: Reply }): Promise<Outcome> {
  const question = (talk.verbs.approvals() as unknown as Question[]).find(({ id }) => id === approval)
  return question === undefined ? { kind: 'taken' } : take(talk, question, step, reply)
}

async function take(talk: Talk, question: Question, step: Omit<Step, 'problem'>, reply: Reply): Promise<Outcome> {
  const { verbs, forms, asker, caller } = talk
  if (asker.mode === 'url' && reply.action === 'accept') return awaitPage(talk, question)
  try {
    const meaning = meaningOf(question, step.form, reply)
    if (meaning.kind === 'nothing') return close(forms, question.id, false)
    if (meaning.kind === 'change') return again(question, { ...step, form: 'arguments', problem: null })
    await verbs.decide(question.id, meaning.decision, caller, false)
    return { kind: 'taken' }
  } catch (error) {
    const { code, context, message } = toAppError(error)
    if (context.param === 'args') return unreadable(forms, question, step, message)
    if (context.param === 'id' || code === 'APPROVAL_EXPIRED') return { kind: 'taken' }
    throw error
  }
}

const again = ({ id }: Question, { form, unreadable, problem }: Omit<Step, 'round'>): Outcome => ({
  ...{ kind: 'again', approval: id },
  ...{ form, unreadable, problem },
})

/** A host that damages every answer would be asked for ever: then the question stays open elsewhere. */
function unreadable(forms: Forms, question: Question, step: Omit<Step, 'problem'>, problem: string): Outcome {
  const count = step.unreadable + 1
  if (count < limits.unreadableAnswersMax) return again(question, { ...step, unreadable: count, problem })
  if (forms.unreadable.size >= limits.closedFormsMax) forms.unreadable.delete(forms.unreadable.keys().next().value!)
  forms.unreadable.set(question.id, problem)
  return close(forms, question.id, false)
}

/** The human opens the page; what is not answered there in time stays open, and the client is told how to go on. */
async function awaitPage({ verbs, forms, caller }: Talk, question: Question): Promise<Outcome> {
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
