/**
 * Questions of a server to a client. In the legacy era they are requests of their own; in the
 * modern era they are an answer to the client's request, which it then sends again with what was
 * asked for, while the work waits here.
 */
import { randomBytes } from 'node:crypto'
import {
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { requestDigest } from '#gateway/elicitation'
import { isObject, type JsonObject, limits } from '#model'
import type { Attendant, ServerQuestion } from '#verbs'

type Ask = NonNullable<Attendant['ask']>
/** How the client is asked, and how it is asked no longer. */
type ClientInput = { ask: Ask } & Pick<Attendant, 'giveUp'>
/**
 * `current` is the client's request under way: one that was answered with questions comes again.
 */
type Work = (asked: ClientInput, current: () => ServerContext) => Promise<JsonObject>
type PendingInput = { question: ServerQuestion; answer(given: JsonObject): void; refuse(error: Error): void }

export class InputExchanges {
  readonly #open = new Map<string, InputExchange>()

  /** Begins the work, or goes on with the work that waits for what this request brings. */
  async take(context: ServerContext, params: JsonObject, work: Work): Promise<JsonObject> {
    const { mcpReq } = context
    if (mcpReq.envelope === undefined)
      return work({ ask: (question) => mcpReq.send(question as never) as Promise<JsonObject> }, () => context)
    const state = mcpReq.requestState()
    const exchange = state === undefined ? this.#begin(params, work) : this.#find(String(state), params)
    const answer = await exchange.next(context)
    if (answer.resultType === 'input_required') this.#wait(String(answer.requestState), exchange)
    return answer
  }

  close(): void {
    for (const exchange of this.#open.values()) exchange.giveUp()
    this.#open.clear()
  }

  #begin(params: JsonObject, work: Work): InputExchange {
    return new InputExchange(requestDigest(params), work, (state) => this.#open.delete(state))
  }

  /**
   * Where too many wait, the one that has waited longest goes on without its answer: others must
   * not pay for hosts that never answer.
   */
  #wait(state: string, exchange: InputExchange): void {
    if (this.#open.size >= limits.exchangesMax) this.#open.values().next().value!.giveUp()
    this.#open.set(state, exchange)
  }

  /** A state is good once, and only for the request that it was given to. */
  #find(state: string, params: JsonObject): InputExchange {
    const exchange = this.#open.get(state)
    if (exchange === undefined || exchange.digest !== requestDigest(params)) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'Cannot go on: the requestState is unknown, used or of another request',
      )
    }
    this.#open.delete(state)
    return exchange
  }
}

class InputExchange {
  readonly digest: string
  readonly #outcome: Promise<JsonObject>
  readonly #waiting = new Map<string, PendingInput>()
  readonly #forget: (state: string) => void
  #context: ServerContext | null = null
  #given: JsonObject = {}
  #asked = Promise.withResolvers<void>()
  #count = 0
  #state = ''
  #late: NodeJS.Timeout | undefined

  constructor(digest: string, work: Work, forget: (state: string) => void) {
    this.digest = digest
    this.#forget = forget
    const ask: Ask = (question, key) => this.#ask(question, key)
    const asked = { ask, giveUp: () => this.giveUp() }
    this.#outcome = Promise.resolve().then(() => work(asked, () => this.#context!))
    this.#outcome.catch(() => {})
  }

  /** With what the client brought, until the work is done or asks again. */
  async next(context: ServerContext): Promise<JsonObject> {
    clearTimeout(this.#late)
    this.#asked = Promise.withResolvers()
    this.#context = context
    this.#given = { ...context.mcpReq.inputResponses } as JsonObject
    for (const [key, { answer }] of this.#waiting) {
      const brought = this.#bring(key)
      if (brought !== null && this.#waiting.delete(key)) answer(brought)
    }
    if (this.#waiting.size > 0) this.#asked.resolve()
    const answer = await Promise.race([this.#outcome, this.#asked.promise])
    return answer ?? this.#questions()
  }

  /** The client does not answer: the request goes on without. False where nothing was asked. */
  giveUp(): boolean {
    const waited = this.#waiting.size > 0
    for (const { refuse } of this.#waiting.values()) refuse(new Error('nobody answered the question'))
    this.#waiting.clear()
    this.#forget(this.#state)
    return waited
  }

  #ask(question: ServerQuestion, named: string | null): Promise<JsonObject> {
    const key = named ?? `question-${++this.#count}`
    const brought = this.#bring(key)
    if (brought !== null) return Promise.resolve(brought)
    const { promise, resolve: answer, reject: refuse } = Promise.withResolvers<JsonObject>()
    this.#waiting.set(key, { question, answer, refuse })
    // Questions that come together are asked together; those of the legacy era are messages of
    // their own, which arrive one by one.
    const { resolve } = this.#asked
    const ask = () => this.#waiting.size > 0 && resolve()
    if (named === null) setTimeout(ask, limits.questionsTogetherMs)
    else setImmediate(ask)
    return promise
  }

  #bring(key: string): JsonObject | null {
    const brought = Object.hasOwn(this.#given, key) ? this.#given[key] : null
    delete this.#given[key]
    return isObject(brought) ? (brought as JsonObject) : null
  }

  #questions(): JsonObject {
    this.#late = setTimeout(() => this.giveUp(), limits.questionAnswerMsMax).unref()
    this.#state = randomBytes(32).toString('base64url')
    const inputRequests = Object.fromEntries([...this.#waiting].map(([key, { question }]) => [key, question]))
    const answer = { resultType: 'input_required', inputRequests, requestState: this.#state }
    return answer satisfies object as InputRequiredResult as JsonObject
  }
}
