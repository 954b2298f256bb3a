/** Writes what a command gives into the file that `-o` names. */
import { writeFileSync } from 'node:fs'
import { UsageError } from './command.ts'

export function writeTo(file: string, content: string | Uint8Array): void {
  try {
    writeFileSync(file, content)
  } catch (error) {
    throw new UsageError(`Cannot write ${file}: ${(error as Error).message}`)
  }
}
