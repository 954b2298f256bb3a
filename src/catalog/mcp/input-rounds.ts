/**
 * A request that the server answers with questions, as the modern era does it: asked again with the
 * answers until it is done.
 */

import type { Attendant, Question } from '#catalog/tool-server'
import { type JsonObject, limits } from '#model'

/** Around the time in which the server does not work, but waits for answers to its questions. */
export type Meanwhile = <Value>(asking: Promise<Value>) => Promise<Value>

type Answer = { resultType?: unknown }

export async function withInputRounds<Result extends object>(
  send: (round: JsonObject) => Promise<Result>,
  ask: NonNullable<Attendant['ask']>,
  meanwhile: Meanwhile = (asking) => asking,
): Promise<Result> {
  let round: JsonObject = {}
  for (let rounds = 0; rounds < limits.questionRoundsMax; rounds++) {
    const answer: Result & Answer = await send(round)
    if (answer.resultType !== 'input_required') return answer
    const { inputRequests = {}, requestState } = answer as {
      inputRequests?: Record<string, Question>
      requestState?: string
    }
    const questions = Object.entries(inputRequests)
    if (questions.length > limits.questionsAtOnceMax)
      throw new Error(
        `the server asked ${questions.length} questions at once, at most ${limits.questionsAtOnceMax} are asked`,
      )
    const asked = questions.map(async ([key, question]) => [key, await ask(question, key)] as const)
    const inputResponses = Object.fromEntries(await meanwhile(Promise.all(asked)))
    round = { inputResponses, ...(requestState !== undefined && { requestState }) }
  }
  throw new Error(`the server asked ${limits.questionRoundsMax} times and was not done`)
}
