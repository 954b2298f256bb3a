/**
 * What a session knows while it goes on: its steps, its files, what it used up, and the failures
 * that would end it. The next request follows from it.
 */
import { compact, type Message, type ModelAnswer, type Step } from '#agent/models'
import { type AgentPlan, mistakeFeedback } from '#agent/protocol'
import { AppError, type ErrorData, type JsonObject, limits } from '#model'
import { modelTools } from './native-tools.ts'

/** An answer of the model, with the call that it is of and the time of its arrival. */
export type Answer = ModelAnswer & { call: string; now: number }

/** A file on the record, as the call that wrote it answered. */
export type Written = { path: string; sha256: string; bytes: number }

/** What came of an answer, and what its model is told; `failure` is null where it went well. */
export type Outcome = Omit<Step, 'answer'> & { failure: string | null }

/** An answer that the model has to give again. */
export class Mistake extends Error {}

/** There is no going on, whatever the model would say. */
export class SessionEnd extends Error {
  readonly data: ErrorData

  constructor(data: ErrorData) {
    super(data.message)
    this.data = data
  }
}

export class SessionState {
  readonly plan: AgentPlan
  readonly #steps: Step[] = []
  readonly #files = new Map<string, Written>()
  #asked = 0
  #tokens = 0
  #forbidden = 0
  /** Files that the answer at hand has written so far. */
  #written: string[] = []
  /** The failures that stand at the end, as far as they are equal. */
  #failures: string[] = []

  constructor(plan: AgentPlan) {
    this.plan = plan
  }

  /** Throws where the limits allow none. */
  nextRequest(): JsonObject {
    const { system, goal, contextTokens, tools, maxSteps, tokens } = this.plan
    if (this.#asked >= maxSteps) throw this.#spent(`its ${maxSteps} steps are used up`, { steps: maxSteps })
    const left = tokens - this.#tokens
    if (left <= 0) throw this.#spent(`its ${tokens} tokens are used up`, { tokens })
    this.#asked += 1
    const messages = compact({ system, goal: [{ role: 'user', text: goal }], steps: this.#steps }, contextTokens)
    const maxTokens = Math.min(left, limits.modelAnswerTokensMax)
    return { system, messages, ...(tools && { tools: modelTools }), maxTokens }
  }

  /** Throws where the answer is none that a session could go on with. */
  take(answer: Answer): Answer {
    const { stop, usage } = answer
    this.#written = []
    this.#tokens += (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0)
    if (stop !== 'refusal' && stop !== 'context_overflow') return answer
    const why = stop === 'refusal' ? 'its model refused to answer' : 'what it has to read is too long for its model'
    throw ended(new AppError('TOOL_ERROR', `Cannot go on with the session: ${why}`, { tool: 'model', stop }))
  }

  /** What was printed last is kept with the error: it may hold what is needed. */
  #spent(why: string, context: JsonObject): SessionEnd {
    const last = this.#steps.at(-1)?.replies.at(-1)?.text ?? ''
    return ended(new AppError('BUDGET_EXCEEDED', `Cannot go on with the session: ${why}`, { ...context, last }))
  }

  wrote(file: Written): void {
    this.#files.set(file.path, file)
    this.#written.push(file.path)
  }

  files(): Written[] {
    return [...this.#files.values()]
  }

  fileAt(path: string): Written | undefined {
    return this.#files.get(path)
  }

  /** A path that is never run: the model is told once, and the second one ends the session. */
  forbidden(target: string, details: string): Mistake | SessionEnd {
    this.#forbidden += 1
    if (this.#forbidden === 1)
      return new Mistake(`${target} is a forbidden path: ${details}. A second one ends the session`)
    const message = `Cannot go on with the session: its model asked again to run ${target}; ${details}`
    return ended(new AppError('PERMISSION_DENIED', message, { path: target }))
  }

  /**
   * The model is told why its answer was not used. No call of it was made, so none is shown: a
   * provider refuses one without its result.
   */
  correct(answer: Answer, reason: string): null {
    const streams = [{ name: 'ANSWER', text: answer.text, place: `/text of call ${answer.call}` }]
    const replies: Message[] = [{ role: 'user', text: mistakeFeedback(reason, this.#written) }]
    const outcome = { replies, thought: '(This answer was not used.)', streams, failure: reason }
    return this.tell({ ...answer, toolCalls: [] }, outcome)
  }

  /** Equal failures in a row end the session. */
  tell({ text, toolCalls }: Answer, { failure, ...step }: Outcome): null {
    this.#failures = failure === null ? [] : [...this.#failures.filter((one) => one === failure), failure]
    if (failure !== null && this.#failures.length >= limits.equalFailuresMax) throw this.#stuck(failure)
    const answer: Message = { role: 'assistant', text, ...(toolCalls.length > 0 && { toolCalls }) }
    this.#steps.push({ answer, ...step })
    return null
  }

  #stuck(failure: string): SessionEnd {
    const message = `Cannot go on with the session: the same failure came ${limits.equalFailuresMax} times in a row: ${failure.slice(0, limits.previewCharactersMax)}`
    return ended(new AppError('TOOL_ERROR', message, { tool: 'agent' }))
  }
}

function ended(error: AppError): SessionEnd {
  return new SessionEnd(error.toJSON())
}
