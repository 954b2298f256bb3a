/** What the script tool was given, as a request to the sandbox, and refusals in its words. */
import { AppError, toAppError } from '#model'
import { parseArtifactAddress } from '#record'
import type { ScriptInput, ScriptRequest } from '#sandbox'

export type ScriptArguments = {
  interpreter: string
  scriptContent: string
  config?: {
    timeoutSeconds?: number
    /** Storage path → path in the box. */
    inputArtifacts?: Record<string, string>
    networkPolicy?: 'NONE' | 'OUTBOUND_LIMITED'
    /** Paths in the box. */
    outputs?: string[]
    tier?: 'os' | 'gvisor'
  }
}

export function requestOf(
  { interpreter, scriptContent, config = {} }: ScriptArguments,
  sources: readonly ScriptInput['source'][],
): ScriptRequest {
  const { timeoutSeconds, inputArtifacts = {}, networkPolicy, outputs, tier } = config
  return {
    interpreter,
    script: scriptContent,
    inputs: Object.values(inputArtifacts).map((path, index) => ({ path, source: sources[index]! })),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(networkPolicy === undefined ? {} : { network: networkPolicy }),
    ...(outputs === undefined ? {} : { outputs }),
    ...(tier === undefined ? {} : { tier }),
  }
}

/** By path alone: an id would be read too, but is no storage path. */
export function checkStoragePath(path: string): void {
  const details = `must have storage paths like artifacts/<id>/<name>, and "${path}" is none`
  const refusal = new AppError('INVALID_INPUT_PARAM', '', { param: 'inputs', details, value: path })
  if (!path.includes('/')) throw refusal
  try {
    parseArtifactAddress(path)
  } catch {
    throw refusal
  }
}

/** The sandbox's names of parameters, and what the tool's own schema calls them. */
const parameters: Record<string, string> = {
  script: 'scriptContent',
  timeoutSeconds: 'config.timeoutSeconds',
  inputs: 'config.inputArtifacts',
  outputs: 'config.outputs',
  network: 'config.networkPolicy',
  tier: 'config.tier',
}

export function inToolWords(thrown: unknown): AppError {
  const error = toAppError(thrown)
  if (error.code !== 'INVALID_INPUT_PARAM') return error
  const { param, details, ...more } = error.context as AppError<'INVALID_INPUT_PARAM'>['context']
  const name = parameters[param] ?? param
  const message = `Cannot run the script: ${name} ${details}`
  return new AppError('INVALID_INPUT_PARAM', message, { ...more, param: name, details })
}
