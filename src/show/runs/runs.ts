/**
 * Commands that run something, or look at what ran: a program, a call or a script enters, its
 * result leaves on stdout. It refuses options that exclude each other. Each group of commands is
 * loaded by itself.
 */
import type { Commands } from '#show/cli'

export const runCommands = async (): Promise<Commands> => (await import('./run-commands.ts')).runCommands
export const sandboxCommands = async (): Promise<Commands> => (await import('./sandbox-commands.ts')).sandboxCommands
