/**
 * The two protocols of a session: how an answer is read, and in which words the model hears what
 * came of it. Pure functions; an answer that cannot be used is a mistake of the model, and data.
 */
export {
  bounded,
  isMistakeFeedback,
  mistakeFeedback,
  type Ran,
  reboundFeedback,
  type StoredOutput,
  streamsOf,
  toolFeedback,
  toolOutput,
} from './feedback.ts'
export { type AgentPlan, type ProtocolName, readPlan } from './plan.ts'
export type { Draft, Reading } from './reading.ts'
export { forbiddenTarget, readRebound } from './rebound.ts'
export { readToolCode } from './tool-code.ts'
