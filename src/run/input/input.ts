/**
 * What a run is asked for with, before there is one: the mocks of a dry run, which are refused
 * where they could mock nothing. Loads nothing else of a run.
 */
import { AppError, isObject, type Json, type JsonObject, limits, toText } from '#model'

export type Mocks = {
  /** Values put into the run's arguments, by dotted path. */
  args?: JsonObject
  /** By tool: a value, `{ error }`, or a list of such, one a call, the last for all that follow. */
  tools?: JsonObject
  /** By call. */
  calls?: JsonObject
}

/**
 * What could never be the name of a call would be mocked nowhere, and its results be made up
 * unnoticed.
 */
const keys: Record<string, { form: RegExp; is: string }> = {
  args: { form: /./, is: 'a path such as "config.env"' },
  tools: { form: /^[^:]+:./, is: 'a tool, "server:name"' },
  calls: { form: /^\d+(\.\d+)*$/, is: 'the number of a call' },
}

export function readMocks(value: Json): Mocks {
  const details = problemOfMocks(value)
  if (details === null) return value as Mocks
  throw new AppError('INVALID_INPUT_PARAM', `Cannot read "mocks": ${details}`, {
    param: 'mocks',
    details,
    value: toText(value).slice(0, limits.previewCharactersMax),
  })
}

function problemOfMocks(value: Json): string | null {
  const isRight =
    isObject(value) && Object.entries(value).every(([name, of]) => Object.hasOwn(keys, name) && isObject(of))
  if (!isRight) return 'it must be { args?, tools?, calls? }, each an object'
  for (const [name, of] of Object.entries(value)) {
    const { form, is } = keys[name]!
    const wrong = Object.keys(of as JsonObject).find((key) => !form.test(key))
    if (wrong !== undefined) return `in "${name}", "${wrong}" is not ${is}`
  }
  return null
}
