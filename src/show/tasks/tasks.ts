/**
 * Commands about missions and tasks: ids and filters enter; lists, trees and single tasks leave. It
 * changes nothing: that is for the tools of the built-in server.
 */
import type { Commands } from '#show/cli'

export const taskCommands = async (): Promise<Commands> => (await import('./task-commands.ts')).taskCommands
