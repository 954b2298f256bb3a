/**
 * Setting up: what hosts and servers there are on this machine enters; our configuration, entries
 * in the hosts' own files and a diagnosis leave. It refuses to write a file whose comments or
 * layout would be lost. Each group of commands is loaded by itself.
 */
import type { Command, Commands } from '#show/cli'

export const initCommands = async (): Promise<Commands> => ({ init: (await import('./init.ts')).init })
export const connectCommands = async (): Promise<Commands> => (await import('./connect.ts')).connectCommands
export const serverCommands = async (): Promise<Commands> => (await import('./server-commands.ts')).serverCommands
export const effectsCommands = async (): Promise<Commands> => ({
  'effects suggest': (await import('./effects-command.ts')).effectsSuggest,
})

/** What it checks is all there is, so it is loaded when it is started, not for a page of help. */
const doctor: Command = {
  group: 'Set up',
  usage: 'doctor',
  does: 'check this machine, the configuration, the servers and the record',
  diagnoses: true,
  looks: true,
  words: [0, 0],
  run: async (context) => (await import('./doctor.ts')).doctor(context),
}

export const doctorCommands = async (): Promise<Commands> => ({ doctor })
