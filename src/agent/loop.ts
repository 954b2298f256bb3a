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
import type { ModelAnswer } from '#agent/models'
import { type AgentPlan, readRebound, readToolCode } from '#agent/protocol'
import { type Program, type ProgramEnd, type Turn, toText } from '#model'
import { type Answer, Mistake, SessionEnd, SessionState } from './session-state.ts'
import { type Calling, resultOf, runBlock, runTarget, useTools, write } from './steps.ts'

/** Asks, does what is answered, and asks again, until there is a result or no going on. */
function* pursue(state: SessionState): Calling<ProgramEnd> {
  try {
    for (;;) {
      const answer = yield* ask(state)
      const final = yield* follow(state, answer)
      if (final !== null) return { ok: true, value: toText({ text: final, files: state.files() }) }
    }
  } catch (error) {
    if (error instanceof SessionEnd) return { ok: false, error: error.data }
    throw error
  }
}

function* ask(state: SessionState): Calling<Answer> {
  const result = yield { tool: `model:${state.plan.model}`, args: toText(state.nextRequest()), whole: true }
  if (!result.ok) throw new SessionEnd(result.error)
  return state.take({ ...(result.value as ModelAnswer), call: result.call, now: result.now })
}

/** The final text of the session; null where the model was told what came of its answer. */
function* follow(state: SessionState, answer: Answer): Calling<string | null> {
  try {
    if (answer.stop === 'max_tokens') throw new Mistake('it was cut off: it was too long')
    if (answer.toolCalls.length > 0) return state.tell(answer, yield* useTools(answer))
    const reading = state.plan.protocol === 'rebound' ? readRebound(answer.text) : readToolCode(answer.text)
    if (reading.kind === 'mistake') throw new Mistake(reading.reason)
    if (reading.kind === 'tool') return state.tell(answer, yield* runBlock(state, reading, answer.now))
    for (const draft of reading.drafts) yield* write(state, draft)
    if (reading.kind === 'final') return reading.text
    return state.tell(answer, yield* runTarget(state, reading))
  } catch (error) {
    if (error instanceof Mistake) return state.correct(answer, error.message)
    throw error
  }
}

export function agentProgram(plan: AgentPlan): Program {
  const session = pursue(new SessionState(plan))
  let next = session.next()
  const turn = (): Turn => (next.done ? { calls: [], logs: [], end: next.value } : { calls: [next.value], logs: [] })
  return {
    start: async () => turn(),
    async deliver(delivery) {
      if (next.done) return { calls: [], logs: [] }
      next = session.next(resultOf(delivery))
      return turn()
    },
    drop() {},
  }
}
