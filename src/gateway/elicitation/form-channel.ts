/**
 * The channels by which a form reaches the client's human: a request of our own while the client's
 * is open (legacy era), or an answer that makes the client send another request (modern era).
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
  type ServerContext,
} from '@modelcontextprotocol/server'
import { readToken } from '#gateway/auth'
import { isObject, type JsonObject, LruCache, limits } from '#model'
import { type Attendant, keysFolder, type Question } from '#verbs'
import { type FormKind, formOf, linkOf, type Reply } from './form.ts'
import { requestDigest } from './request-digest.ts'

/** What the forms of one gateway have in common, over all its connections. */
export type Forms = {
  /**
   * Makes what a client brings back with its answer. It holds somewhat longer than its question: a
   * late answer is told what became of the run.
   */
  mint(state: FormState, question: Pick<Question, 'expiresAt'>, context: ServerContext): Promise<string>
  verify: RequestStateCodec<FormState>['verify']
  /** Questions that a client closed without an answer. */
  closed: Set<string>
  /** Questions that stand in a form just now. */
  shown: Set<string>
  /**
   * Questions whose form was answered unreadably as often as is borne, with what was wrong last.
   */
  unreadable: LruCache<string, string>
}

/**
 * What a client of the modern era brings back with an answer: which question it was about, and of
 * which request.
 */
export type FormState = { run: string; approval: string; request: string } & Omit<Step, 'problem'>

/**
 * One form of a conversation: the how-manieth it is, which one, and how often its question was
 * answered unreadably.
 */
export type Step = { round: number; form: FormKind; unreadable: number; problem: string | null }

/**
 * Kept in the home, so that an answer to a form reaches the run also when the gateway that asked
 * has died.
 */
export function readFormKey(home: string): string {
  if (home === '') return randomBytes(32).toString('base64url')
  return readToken(home, join(keysFolder(home), 'form-key'))
}

export function openForms(key: string): Forms {
  const bind = ({ http }: ServerContext) => http?.authInfo?.clientId ?? ''
  const codec = (ttlSeconds: number) => createRequestStateCodec<FormState>({ key, ttlSeconds, bind })
  const mint: Forms['mint'] = (state, { expiresAt }, context) => {
    const restMs = Math.max(0, Date.parse(expiresAt) - Date.now())
    return codec(Math.ceil((restMs + limits.formLateMsMax) / 1000)).mint(state, context)
  }
  return {
    mint,
    verify: codec(0).verify,
    closed: new Set(),
    shown: new Set(),
    unreadable: new LruCache(limits.closedFormsMax),
  }
}

/** What a client can show its human: a form of ours, or only the address of our page. */
type Mode = 'form' | 'url'

/**
 * How one request can ask: by a request of our own while it is open, or by an answer that asks for
 * another request.
 */
export type FormChannel = {
  mode: Mode
  /** The answer that came with this request, in the modern era. */
  back: (FormState & { reply: Reply }) | null
  show(question: Question, step: Step, over: AbortSignal): Promise<Reply>
}

/**
 * Null where the client did not say that it can show anything. `params` are those of the request
 * under way.
 */
export function channelOfRequest(
  forms: Forms,
  context: ServerContext,
  declared: unknown,
  params: JsonObject,
): FormChannel | null {
  const { mcpReq } = context
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined
  const isModern = envelope !== undefined
  const capabilities = isModern ? envelope[CLIENT_CAPABILITIES_META_KEY] : declared
  const mode = modeOf(capabilities)
  if (mode === null) return null
  return isModern ? modernChannel(forms, context, mode, () => requestDigest(params)) : legacyChannel(context, mode)
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
export function channelOfAttendant(ask: NonNullable<Attendant['ask']>, capabilities: unknown): FormChannel | null {
  const mode = modeOf(capabilities)
  if (mode === null) return null
  const show: FormChannel['show'] = async (question, step) => {
    const params = requestOf(mode, question, step) as JsonObject
    return (await ask({ method: 'elicitation/create', params }, null)) as Reply
  }
  return { mode, back: null, show }
}

function legacyChannel({ mcpReq }: ServerContext, mode: Mode): FormChannel {
  return {
    mode,
    back: null,
    show: async (question, step, signal) => {
      // The signal ends it, when its question is over; by itself the SDK would wait for a minute.
      const timeout = limits.timeoutMsMax
      const request = { method: 'elicitation/create' as const, params: requestOf(mode, question, step) }
      return (await mcpReq.send(request, { signal, timeout })) as Reply
    },
  }
}

/**
 * The answer that asks: the handler ends with it, and the client comes back with another request.
 */
export class FormRequired extends Error {
  readonly result: InputRequiredResult
  constructor(result: InputRequiredResult) {
    super('The client is asked for input')
    this.result = result
  }
}

function modernChannel({ mint }: Forms, context: ServerContext, mode: Mode, request: () => string): FormChannel {
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
      const requestState = await mint({ run, approval, request: request(), ...step }, question, context)
      throw new FormRequired(inputRequired({ inputRequests: { approval: shown }, requestState }))
    },
  }
}
