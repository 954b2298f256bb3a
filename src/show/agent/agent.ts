/**
 * The agent at a terminal: a goal enters, the final result leaves on stdout, alone; what happens on
 * the way is told on stderr.
 */
import type { Commands } from '#show/cli'

export const agentCommands = async (): Promise<Commands> => (await import('./agent-commands.ts')).agentCommands
