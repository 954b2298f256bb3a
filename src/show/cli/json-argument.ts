/** Reads an option or a word of a command line that is JSON. */
import type { Json } from '#model'
import { UsageError } from './command.ts'

export function jsonArgument(name: string, text: unknown): Json {
  try {
    return JSON.parse(String(text))
  } catch (error) {
    throw new UsageError(`Cannot read ${name}: it is not JSON (${(error as Error).message})`)
  }
}
