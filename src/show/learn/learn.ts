/** Commands about what was learned: how far learning is, and the graph of what it found. */
import type { Commands } from '#show/cli'

export const learnCommands = async (): Promise<Commands> => (await import('./learn-commands.ts')).learnCommands
