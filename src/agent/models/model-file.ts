/** Reads a file that answers for a model, within a bound. */
import { readFileSync, statSync } from 'node:fs'
import { AppError, limits } from '#model'

export function readModelFile(file: string): string {
  let details: string
  try {
    const { size } = statSync(file)
    if (size <= limits.modelFileBytesMax) return readFileSync(file, 'utf8')
    details = `has ${size} bytes; at most ${limits.modelFileBytesMax} are read`
  } catch (error) {
    details = `cannot be read (${(error as NodeJS.ErrnoException).code})`
  }
  throw new AppError('INVALID_INPUT_PARAM', `Cannot use the model: its file "${file}" ${details}`, {
    param: 'model',
    details,
  })
}
