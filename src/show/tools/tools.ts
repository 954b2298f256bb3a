/**
 * Commands about servers and their tools: words enter; lists, logins, declarations and accepted
 * definitions leave. It refuses servers and tools that the configuration does not name. Each group
 * of commands is loaded by itself.
 */
import type { Commands } from '#show/cli'

export const catalogCommands = async (): Promise<Commands> => (await import('./catalog-commands.ts')).catalogCommands
export const capabilityCommands = async (): Promise<Commands> =>
  (await import('./capability-commands.ts')).capabilityCommands
export const loginCommands = async (): Promise<Commands> => (await import('./login-commands.ts')).loginCommands
export const typesCommands = async (): Promise<Commands> => ({ types: (await import('./types-command.ts')).types })
