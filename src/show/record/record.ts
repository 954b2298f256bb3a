/**
 * Commands about the record: a home enters; a verdict, events, archives, backups and stored files
 * leave. It refuses ids that are none.
 */
import type { Commands } from '#show/cli'

export const recordCommands = async (): Promise<Commands> => (await import('./record-commands.ts')).recordCommands
