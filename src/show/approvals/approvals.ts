/**
 * Approvals at the terminal: questions that wait enter, a person's decisions leave. It refuses an
 * answer that names two scopes, or arguments that are not JSON.
 */
import type { Commands } from '#show/cli'
import type * as answering from './answer-approvals.ts'

export { onQuestion } from './on-question.ts'

/** Loaded with the first run that may ask: what only looks at runs does without. */
export const askWhileWaiting: typeof answering.askWhileWaiting = async (context, pending) => {
  pending.catch(() => {}) // it may fail while that is loaded, and is awaited there
  return (await import('./answer-approvals.ts')).askWhileWaiting(context, pending)
}

export const decideCommands = async (): Promise<Commands> => (await import('./decide-commands.ts')).decideCommands
