/** A request that the server answers with questions, as the newer era does it: asked again with the answers until it is done. */
import { type JsonObject, limits } from '#model'
import type { Attendant, Question } from './attend.ts'

type Answer = { resultType?: unknown }

export async function inRounds<Result extends object>(
  send: (round: JsonObject) => Promise<Result>,
  ask: NonNullable<Attendant['ask']>,
  /** Around the time in which the server is not at work, but waits for answers. */
  meanwhile: <Value>(asking: Promise<Value>) => Promise<Value> = (asking) => asking,
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
