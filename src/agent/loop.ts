/**
 * The agent's loop as a program: a pure function from results to calls, so that it resumes, forks
 * and replays like any other.
 *
 *   ask the model ──► read its answer ──► final: the end
 *        ▲                  │
 *        │                  ├──► a mistake: say why
 *        │                  ├──► write its files, run its script, say what came of it
 *        └──────────────────┴──► make its tool calls, one after the other
 *
 * Nothing else touches the world: a model, a file, a script and a verb are calls.
 */

import { compact, type Message, type ModelAnswer, type Step, type ToolCall } from '#agent/models'
import {
  AppError,
  type Delivery,
  type ErrorData,
  type IssuedCall,
  type JsonObject,
  limits,
  type Program,
  type ProgramEnd,
  type Turn,
  toAppError,
  toText,
} from '#model'
import { bounded, mistakeFeedback, type Ran, reboundFeedback, streamsOf, toolFeedback, toolOutput } from './feedback.ts'
import { callOf, modelTools } from './native-tools.ts'
import type { AgentPlan } from './plan.ts'
import type { Draft, Reading } from './reading.ts'
import { forbiddenTarget, readRebound } from './rebound.ts'
import { readToolCode } from './tool-code.ts'

/** `call` is the number by which the record, and the verb `result`, know it. */
type Result = ({ ok: true; value: JsonObject } | { ok: false; error: ErrorData }) & { call: string; now: number }

/** What the program does next: one call and what its result leads to, or its end. */
type Move = { call: IssuedCall; then(result: Result): Move } | { end: ProgramEnd }

/** A file on the record, as the call that wrote it answered. */
type Written = { path: string; sha256: string; bytes: number }

/** An answer of the model, with the call that it is of. */
type Heard = ModelAnswer & { call: string }

/** A script, with the digest of the bytes that may run; null where none are on the record. */
type Target = { path: string; sha256: string | null }

/** How a script came to its end, as `workspace:run` answers. */
type RunAnswer = Ran & { forbidden?: string }

export function agentProgram(plan: AgentPlan): Program {
  let next = new Loop(plan).ask()
  const turn = (): Turn => ('end' in next ? { calls: [], logs: [], end: next.end } : { calls: [next.call], logs: [] })
  return {
    start: async () => turn(),
    async deliver(delivery) {
      if ('end' in next) return { calls: [], logs: [] }
      next = next.then(resultOf(delivery))
      return turn()
    },
    drop() {},
  }
}

function resultOf({ call, ok, text, now }: Delivery): Result {
  const value = JSON.parse(text)
  return { ...(ok ? { ok, value } : { ok, error: value as ErrorData }), call: String(call), now }
}

class Loop {
  readonly #plan: AgentPlan
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
    this.#plan = plan
  }

  ask(): Move {
    const { model, system, goal, contextTokens, tools, maxSteps, tokens } = this.#plan
    if (this.#asked >= maxSteps) return this.#stop(`its ${maxSteps} steps are used up`, { steps: maxSteps })
    const left = tokens - this.#tokens
    if (left <= 0) return this.#stop(`its ${tokens} tokens are used up`, { tokens })
    this.#asked += 1
    const messages = compact({ system, goal: [{ role: 'user', text: goal }], steps: this.#steps }, contextTokens)
    const maxTokens = Math.min(left, limits.modelAnswerTokensMax)
    const args = { system, messages, ...(tools && { tools: modelTools }), maxTokens }
    const call = { tool: `model:${model}`, args: toText(args), whole: true }
    return { call, then: (result) => this.#answered(result) }
  }

  #answered(result: Result): Move {
    if (!result.ok) return failed(result.error)
    const answer: Heard = { ...(result.value as ModelAnswer), call: result.call }
    this.#written = []
    const { inputTokens, outputTokens } = answer.usage
    this.#tokens += (inputTokens ?? 0) + (outputTokens ?? 0)
    if (answer.stop === 'refusal' || answer.stop === 'context_overflow') return this.#unanswered(answer)
    if (answer.toolCalls.length > 0) return this.#useTools(answer, answer.toolCalls, { replies: [], streams: [] })
    if (answer.stop === 'max_tokens') return this.#mistaken(answer, 'it was cut off: it was too long')
    const read = this.#plan.protocol === 'rebound' ? readRebound : readToolCode
    return this.#follow(answer, read(answer.text), result.now)
  }

  #follow(answer: Heard, reading: Reading, now: number): Move {
    switch (reading.kind) {
      case 'mistake':
        return this.#mistaken(answer, reading.reason)
      case 'tool':
        return this.#runTool(answer, reading, now)
      default:
        return this.#write(answer, reading.drafts, () => this.#act(answer, reading))
    }
  }

  #act(answer: Heard, reading: Extract<Reading, { kind: 'final' | 'script' }>): Move {
    if (reading.kind === 'final') return this.#done(reading.text)
    const { target, prompt, thought } = reading
    const forbidden = forbiddenTarget(target)
    if (forbidden !== null) return this.#refuse(answer, target, forbidden)
    // Without a digest it is looked at and not run: a link in its place is forbidden all the same.
    const file = this.#files.get(target) ?? { path: target, sha256: null }
    return this.#run(file, limits.reboundScriptSeconds, (ran, call) =>
      ran.forbidden === undefined
        ? this.#tellRun(answer, reboundFeedback(prompt, ran, call), { thought, ran, call })
        : this.#refuse(answer, target, ran.forbidden),
    )
  }

  #tellRun(answer: Heard, text: string, { thought, ran, call }: { thought: string; ran: Ran; call: string }): Move {
    const failure = ran.returncode === 0 ? null : `${ran.returncode} ${ran.stderr}`
    return this.#tell(answer, text, { thought, streams: streamsOf(ran, call), failure })
  }

  /** A path that is never run: the model is told once. */
  #refuse(answer: Heard, target: string, details: string): Move {
    this.#forbidden += 1
    if (this.#forbidden > 1) {
      const message = `Cannot go on with the session: its model asked again to run ${target}; ${details}`
      return this.#fail(new AppError('PERMISSION_DENIED', message, { path: target }))
    }
    return this.#mistaken(answer, `${target} is a forbidden path: ${details}. A second one ends the session`)
  }

  #runTool(answer: Heard, { code, thought }: Extract<Reading, { kind: 'tool' }>, now: number): Move {
    const folder = `artifacts/step_${stampOf(now)}_tool_request`
    const script: Draft = { path: `${folder}/tool_script.py`, content: code, encoding: 'utf8' }
    const step = 'workspace:write_step'
    const ran = (file: Written) =>
      this.#run(file, limits.toolScriptSeconds, (ran) => {
        const output = toolOutput(ran)
        const path = file.path.replace(/tool_script\.py$/, 'tool_output.txt')
        const streams = [{ name: 'OUTPUT', text: output, place: `in ${path}` }]
        const failure = ran.returncode === 0 ? null : output
        const told = { thought, streams, failure }
        const tell = () => this.#tell(answer, toolFeedback(output, path), told)
        return this.#put(answer, { path, content: output, encoding: 'utf8' }, tell, step)
      })
    return this.#put(answer, script, ran, step)
  }

  /** One after the other; the first that cannot be written is a mistake of the model. */
  #write(answer: Heard, [draft, ...rest]: Draft[], then: () => Move): Move {
    return draft === undefined ? then() : this.#put(answer, draft, () => this.#write(answer, rest, then))
  }

  #put(answer: Heard, draft: Draft, then: (file: Written) => Move, tool = 'workspace:write'): Move {
    const call = { tool, args: toText(draft) }
    return {
      call,
      then: (result) => {
        if (!result.ok) return this.#badCall(answer, result.error)
        const { path, sha256, bytes } = result.value as Written
        const file = { path, sha256, bytes }
        this.#files.set(file.path, file)
        this.#written.push(file.path)
        return then(file)
      },
    }
  }

  #run({ path, sha256 }: Target, timeoutSeconds: number, then: (ran: RunAnswer, call: string) => Move): Move {
    const call = { tool: 'workspace:run', args: toText({ path, sha256, timeoutSeconds }) }
    return {
      call,
      then: (result) => {
        if (result.ok) return then(result.value as RunAnswer, result.call)
        if (endsAll(result.error)) return failed(result.error)
        return then({ returncode: 'refused', stdout: '', stderr: result.error.message }, result.call)
      },
    }
  }

  #useTools(answer: Heard, [first, ...rest]: ToolCall[], told: Replies): Move {
    if (first === undefined) return this.#remember(answer, { ...told, thought: answer.text })
    const reply = (whole: string, place: string): Move => {
      const text = bounded(whole, place)
      const replies: Message[] = [...told.replies, { role: 'tool', toolCallId: first.id, text }]
      const streams = [...told.streams, { name: first.name, text: whole, place }]
      return this.#useTools(answer, rest, { replies, streams })
    }
    let call: IssuedCall
    try {
      call = callOf(first)
    } catch (error) {
      return reply(toText({ error: toAppError(error).toJSON() }), `about /toolCalls of call ${answer.call}`)
    }
    return {
      call,
      then: (result) => {
        if (!result.ok && endsAll(result.error)) return failed(result.error)
        const { call } = result
        return reply(toText(result.ok ? { value: result.value } : { error: result.error }), `the value of call ${call}`)
      },
    }
  }

  #badCall(answer: Heard, error: ErrorData): Move {
    return endsAll(error) ? failed(error) : this.#mistaken(answer, error.message)
  }

  #mistaken(answer: Heard, reason: string): Move {
    const feedback = mistakeFeedback(reason, this.#written)
    const streams = [{ name: 'ANSWER', text: answer.text, place: `/text of call ${answer.call}` }]
    return this.#tell(answer, feedback, { thought: '(This answer was not used.)', streams, failure: reason })
  }

  #tell(answer: Heard, text: string, { thought, streams, failure }: Told): Move {
    this.#failures = failure === null ? [] : [...this.#failures.filter((one) => one === failure), failure]
    if (this.#failures.length >= limits.equalFailuresMax) {
      const message = `Cannot go on with the session: the same failure came ${limits.equalFailuresMax} times in a row: ${failure!.slice(0, limits.previewCharactersMax)}`
      return this.#fail(new AppError('TOOL_ERROR', message, { tool: 'agent' }))
    }
    return this.#remember(answer, { replies: [{ role: 'user', text }], thought, streams })
  }

  #remember({ text, toolCalls }: Heard, step: Omit<Step, 'answer'>): Move {
    const answer: Message = { role: 'assistant', text, ...(toolCalls.length > 0 && { toolCalls }) }
    this.#steps.push({ answer, ...step })
    return this.ask()
  }

  #unanswered({ stop }: Heard): Move {
    const why = stop === 'refusal' ? 'its model refused to answer' : 'what it has to read is too long for its model'
    return this.#fail(new AppError('TOOL_ERROR', `Cannot go on with the session: ${why}`, { tool: 'model', stop }))
  }

  /** What was printed last is kept with the error: it may hold what is needed. */
  #stop(why: string, context: JsonObject): Move {
    const last = this.#steps.at(-1)?.replies.at(-1)?.text ?? ''
    return this.#fail(new AppError('BUDGET_EXCEEDED', `Cannot go on with the session: ${why}`, { ...context, last }))
  }

  #fail(error: AppError): Move {
    return failed(error.toJSON())
  }

  #done(text: string): Move {
    return { end: { ok: true, value: toText({ text, files: [...this.#files.values()] }) } }
  }
}

type Replies = Pick<Step, 'replies' | 'streams'>
type Told = Pick<Step, 'thought' | 'streams'> & { failure: string | null }

function failed(error: ErrorData): Move {
  return { end: { ok: false, error } }
}

/** Nothing that the model could say would help. */
function endsAll({ code }: ErrorData): boolean {
  return code === 'BUDGET_EXCEEDED' || code === 'CANCELLED' || code === 'STORE_FULL'
}

/** UTC, as the folder of a step is named. */
function stampOf(now: number): string {
  const [date, time] = new Date(now).toISOString().split(/[T.]/)
  return `${date!.replaceAll('-', '')}_${time!.replaceAll(':', '')}`
}
