/**
 * Approvals at the terminal: questions that wait enter, a person's decisions leave. It refuses an
 * answer that names two scopes, or arguments that are not JSON.
 */
import type { Commands } from '#show/cli'

export { askWhileWaiting } from './answer-approvals.ts'
export { onQuestion } from './on-question.ts'

export const decideCommands = async (): Promise<Commands> => (await import('./decide-commands.ts')).decideCommands
