/** A request for a script, checked once: whatever enters, what leaves can be run. */
import { AppError, limits } from '#model'
import { type OnConnection, type ScriptTier, scriptTiers } from '#sandbox/host'
import { type OnOutput, parseOutputs, type WorkspaceView } from '#sandbox/script-box'
import { parseInputs, type ScriptInput } from './inputs.ts'
import { type Interpreter, parseInterpreter } from './interpreter.ts'

const networks = ['NONE', 'OUTBOUND_LIMITED'] as const
type Network = (typeof networks)[number]

export type ScriptRequest = {
  /** `python`, `bash`, `go run` or `go`. */
  interpreter: string
  script: string
  inputs?: ScriptInput[]
  /**
   * Files below `/outputs/` that are handed out when the script has ended, however it did; or every
   * regular file that it left there.
   */
  outputs?: string[] | 'all'
  onOutput?: OnOutput
  /** A folder of the host that it works in and cannot change. */
  workspace?: WorkspaceView
  /** 60 if absent or not positive, at most 300. */
  timeoutSeconds?: number
  network?: Network
  /** This one and no other; else the strongest there is. */
  tier?: ScriptTier
  signal?: AbortSignal
  /** Told of each connection that the script asks for, before it is made. */
  onConnection?: OnConnection
}

export type CheckedRequest = {
  interpreter: Interpreter
  script: string
  inputs: ScriptInput[]
  outputs: readonly string[]
  onOutput: OnOutput
  workspace: WorkspaceView | null
  timeoutMs: number
  /** Whether the script asked for more time than there is. */
  clamped: boolean
  network: Network
  tier: ScriptTier | null
  signal: AbortSignal | undefined
  onConnection: OnConnection
}

export function parseRequest(request: ScriptRequest): CheckedRequest {
  return {
    interpreter: parseInterpreter(request.interpreter),
    script: parseScript(request.script),
    inputs: parseInputs(request.inputs),
    outputs: parseOutputs(request.outputs),
    onOutput: request.onOutput ?? (async () => {}),
    workspace: request.workspace ?? null,
    ...parseTimeout(request.timeoutSeconds),
    network: oneOf('network', networks, request.network ?? 'NONE'),
    tier: request.tier === undefined ? null : oneOf('tier', scriptTiers, request.tier),
    signal: request.signal,
    onConnection: request.onConnection ?? (() => {}),
  }
}

function parseScript(script: unknown): string {
  if (typeof script !== 'string' || script.trim() === '') throw refusal('script', 'must be a text that is not empty')
  if (script.includes('\0')) throw refusal('script', 'must not contain the character NUL')
  const bytes = Buffer.byteLength(script)
  if (bytes <= limits.scriptBytesMax) return script
  throw refusal('script', `must have at most ${limits.scriptBytesMax} bytes, and has ${bytes}`)
}

function parseTimeout(seconds: unknown = 0): { timeoutMs: number; clamped: boolean } {
  if (typeof seconds !== 'number' || Number.isNaN(seconds)) {
    throw refusal('timeoutSeconds', 'must be a number of seconds', { value: seconds })
  }
  const { scriptTimeoutSecondsDefault: normal, scriptTimeoutSecondsMax: most } = limits
  if (seconds > most) return { timeoutMs: most * 1000, clamped: true }
  return { timeoutMs: (seconds > 0 ? seconds : normal) * 1000, clamped: false }
}

function oneOf<Value extends string>(param: string, values: readonly Value[], value: unknown): Value {
  const found = values.find((one) => one === value)
  if (found !== undefined) return found
  throw refusal(param, `must be one of ${values.join(', ')}`, { value, allowed_values: values })
}

function refusal(param: string, details: string, more: object = {}): AppError {
  return new AppError('INVALID_INPUT_PARAM', `Cannot run the script: ${param} ${details}`, { param, details, ...more })
}
