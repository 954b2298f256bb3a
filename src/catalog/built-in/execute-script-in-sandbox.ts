/** metier:execute_script_in_sandbox: a script of an agent in a box that is thrown away after it. */
import { AppError, type Effect, type Json, type JsonObject, limits, toAppError } from '#model'
import { parseArtifactAddress } from '#record'
import { checkScriptRequest, type ScriptInput, type ScriptRequest, type ScriptResult } from '#sandbox'
import type { Documentation } from './documentation.ts'
import type { BuiltInTool, Call, Parts } from './tool.ts'

type Arguments = {
  interpreter: string
  scriptContent: string
  config?: {
    timeoutSeconds?: number
    /** Storage path → path in the box. */
    inputArtifacts?: Record<string, string>
    networkPolicy?: 'NONE' | 'OUTBOUND_LIMITED'
    tier?: 'os' | 'gvisor'
  }
}

const { scriptTimeoutSecondsDefault: secondsDefault, scriptTimeoutSecondsMax: secondsMax } = limits
const outputMegabytes = limits.scriptOutputBytesMax / 1024 / 1024

const documentation: Documentation = {
  objective: 'Run a Python, Bash or Go script in an isolated sandbox and return what it printed.',
  description:
    'The script has no network and sees no file of this machine but the artifacts that are handed to it, read-only below /inputs/. ' +
    'What it writes is gone when it ends. Use it for calculations, and for code that must touch nothing else.',
  parameters: [
    {
      name: 'interpreter',
      type: 'string',
      text: 'The language of the script. MUST be "python", "bash" or "go run" ("go" is taken for it).',
    },
    {
      name: 'scriptContent',
      type: 'string',
      text: `The source, handed to the interpreter on its standard input. MUST NOT be empty or contain NUL; at most ${limits.scriptBytesMax} bytes. Placeholders of secrets reach the script as text.`,
    },
    {
      name: 'config.timeoutSeconds',
      type: 'number',
      text: `How long the script may run. More than ${secondsMax} counts as ${secondsMax}, and the result says clamped: true.`,
      ifOmitted: `${secondsDefault}, as for 0 and less.`,
    },
    {
      name: 'config.inputArtifacts',
      type: 'object of storagePath to path',
      text: `Files that the script may read: the storage path of an artifact (artifacts/<id>/<name>, which MUST exist) and the absolute path below /inputs/ where the script finds it. At most ${limits.scriptInputsMax}, no path twice.`,
      ifOmitted: 'the script gets no files.',
    },
    {
      name: 'config.networkPolicy',
      type: 'string',
      text: 'MUST be "NONE" or "OUTBOUND_LIMITED". OUTBOUND_LIMITED reaches only what sandbox.outbound of the configuration names, over HTTP proxy variables; such a call asks a human first, unless policy says otherwise.',
      ifOmitted: '"NONE".',
    },
    {
      name: 'config.tier',
      type: 'string',
      text: 'The box that must hold the script: "os" (bubblewrap) or "gvisor". Never one below sandbox.minTier of the configuration.',
      ifOmitted: 'the strongest that this machine has.',
    },
  ],
  returns: [
    { name: 'stdout', type: 'string', text: `At most ${outputMegabytes} MB; what is no UTF-8 is U+FFFD.` },
    { name: 'stderr', type: 'string', text: 'The same of the other output.' },
    {
      name: 'exitCode',
      type: 'integer',
      text: "The script's own. Another than 0 is a result, not an error of the tool: read stderr then.",
    },
    { name: 'truncated', type: 'boolean', text: 'Whether some output was too long to be kept.' },
    {
      name: 'clamped',
      type: 'boolean',
      text: `There, and true, where more than ${secondsMax} seconds were asked for.`,
    },
    {
      name: 'isolation',
      type: 'object',
      text: 'Which tier held the script, with which layers, and what they enforce.',
    },
  ],
  errors: {
    MISSING_REQUIRED_PARAM: 'interpreter or scriptContent is missing.',
    INVALID_INPUT_PARAM:
      'a parameter is no string, empty, too large or off its list (then with allowed_values); a storage path or a path below /inputs/ is malformed; a path stands twice.',
    SANDBOX_INVALID_INTERPRETER: 'interpreter is off the list; allowed_values has it.',
    PERMISSION_DENIED: 'OUTBOUND_LIMITED where sandbox.outbound is empty.',
    S3_ARTIFACT_NOT_FOUND: 'there is no artifact at a storage path.',
    S3_ACCESS_DENIED: 'the store does not let us read an artifact.',
    S3_DOWNLOAD_FAILED: 'an artifact could not be read to its end, or is not the one that was stored.',
    S3_CONNECTION_ERROR: 'the store of artifacts cannot be reached.',
    SANDBOX_TIMEOUT: `the script ran too long; stdout and stderr have the first ${limits.scriptErrorOutputBytesMax} bytes of each.`,
    SANDBOX_RESOURCE_LIMIT: 'the script needed too much memory, or printed too much.',
    SANDBOX_SETUP_FAILED: 'this machine has no box or no such interpreter; the message says what to install.',
    SANDBOX_TIER_DOWNGRADE: 'only a weaker box is left than was used before.',
    SANDBOX_EXECUTION_FAILED: 'the box died under the script.',
    TOOL_INTERNAL_ERROR: 'something that nobody expected.',
  },
  preconditions: [
    'The interpreter is installed on this machine ("metier doctor" says so).',
    'Every artifact of inputArtifacts exists.',
  ],
  postconditions: ['The result has what the script printed. Nothing of the box is left.'],
  idempotence:
    'Yes with networkPolicy NONE (effect "read"): each call runs the script anew and leaves nothing behind. No with OUTBOUND_LIMITED (effect "unsafe").',
  example: {
    intention: '"Add up the second column of data.csv."',
    call: {
      interpreter: 'python',
      scriptContent: 'import csv; print(sum(int(row[1]) for row in csv.reader(open("/inputs/data.csv"))))',
      config: {
        inputArtifacts: { 'artifacts/019a94c2-0000-7000-8000-000000000000/data.csv': '/inputs/data.csv' },
      },
    },
    success: { stdout: '42\n', stderr: '', exitCode: 0, truncated: false, isolation: { tier: 'gvisor' } },
    error: {
      code: 'SANDBOX_INVALID_INTERPRETER',
      message: 'Cannot run the script with "ruby": use one of python, bash, go run',
      context: { interpreter: 'ruby', allowed_values: ['python', 'bash', 'go run'] },
    },
  },
}

export const executeScriptInSandbox: BuiltInTool = {
  name: 'execute_script_in_sandbox',
  documentation,
  input: {
    type: 'object',
    properties: {
      interpreter: { type: 'string' },
      scriptContent: { type: 'string' },
      config: {
        type: 'object',
        properties: {
          timeoutSeconds: { type: 'number' },
          inputArtifacts: { type: 'object', additionalProperties: { type: 'string' } },
          networkPolicy: { type: 'string', enum: ['NONE', 'OUTBOUND_LIMITED'] },
          tier: { type: 'string', enum: ['os', 'gvisor'] },
        },
        additionalProperties: false,
      },
    },
    required: ['interpreter', 'scriptContent'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      stdout: { type: 'string' },
      stderr: { type: 'string' },
      exitCode: { type: 'integer' },
      truncated: { type: 'boolean' },
      clamped: { type: 'boolean' },
      isolation: { type: 'object' },
    },
    required: ['stdout', 'stderr', 'exitCode', 'truncated', 'isolation'],
  },
  annotations: { title: 'Run a script in a sandbox', openWorldHint: true },
  effect: 'unsafe',
  byArguments: { effects: ['read', 'unsafe'], effectFor },
  timeoutMs: limits.scriptCallMsMax,
  problemOf,
  run,
}

/** Whatever is not plainly without a network is unsafe: arguments that do not fit are refused, but classed before. */
function effectFor({ config }: JsonObject): Effect {
  const { networkPolicy } = (config ?? {}) as { networkPolicy?: Json }
  return networkPolicy === undefined || networkPolicy === 'NONE' ? 'read' : 'unsafe'
}

/** Refused before a human is asked about it, and before anything is read. */
function problemOf(given: JsonObject, { outbound }: Parts): AppError | null {
  const args = given as Arguments
  try {
    const paths = Object.keys(args.config?.inputArtifacts ?? {})
    for (const path of paths) checkStoragePath(path)
    checkScriptRequest(
      requestOf(
        args,
        paths.map(() => nothing),
      ),
    )
  } catch (thrown) {
    return inToolWords(thrown)
  }
  if (args.config?.networkPolicy !== 'OUTBOUND_LIMITED' || outbound.length > 0) return null
  const message = 'Cannot give the script a network: nothing may be reached (sandbox.outbound is empty)'
  return new AppError('PERMISSION_DENIED', message, { networkPolicy: 'OUTBOUND_LIMITED' })
}

async function run(given: JsonObject, { artifacts, boxes }: Parts, { signal }: Call): Promise<Json> {
  const args = given as Arguments
  const found = Object.keys(args.config?.inputArtifacts ?? {}).map(async (storagePath) => {
    const artifact = await artifacts.get(storagePath)
    if (artifact !== null) return artifact.content
    const message = `Cannot hand over the artifact "${storagePath}": there is none`
    throw new AppError('S3_ARTIFACT_NOT_FOUND', message, { storagePath })
  })
  try {
    return resultOf(await boxes().run({ ...requestOf(args, await Promise.all(found)), signal }))
  } catch (thrown) {
    throw inToolWords(thrown)
  }
}

const nothing: ScriptInput['source'] = (async function* () {})()

function requestOf(
  { interpreter, scriptContent, config = {} }: Arguments,
  sources: readonly ScriptInput['source'][],
): ScriptRequest {
  const { timeoutSeconds, inputArtifacts = {}, networkPolicy, tier } = config
  return {
    interpreter,
    script: scriptContent,
    inputs: Object.values(inputArtifacts).map((path, index) => ({ path, source: sources[index]! })),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
    ...(networkPolicy === undefined ? {} : { network: networkPolicy }),
    ...(tier === undefined ? {} : { tier }),
  }
}

function resultOf({ stdout, stderr, exitCode, truncated, clamped, isolation }: ScriptResult): Json {
  const result = { stdout, stderr, exitCode, truncated, ...(clamped && { clamped }), isolation }
  return result as unknown as Json
}

/** By path alone: an id would be read too, but is no storage path. */
function checkStoragePath(path: string): void {
  const details = `must have storage paths like artifacts/<id>/<name>, and "${path}" is none`
  const refusal = new AppError('INVALID_INPUT_PARAM', '', { param: 'inputs', details, value: path })
  if (!path.includes('/')) throw refusal
  try {
    parseArtifactAddress(path)
  } catch {
    throw refusal
  }
}

/** The sandbox names its parameters by its own words; whoever called the tool knows the tool's. */
const parameters: Record<string, string> = {
  script: 'scriptContent',
  timeoutSeconds: 'config.timeoutSeconds',
  inputs: 'config.inputArtifacts',
  network: 'config.networkPolicy',
  tier: 'config.tier',
}

function inToolWords(thrown: unknown): AppError {
  const error = toAppError(thrown)
  if (error.code !== 'INVALID_INPUT_PARAM') return error
  const { param, details, ...more } = error.context as AppError<'INVALID_INPUT_PARAM'>['context']
  const name = parameters[param] ?? param
  const message = `Cannot run the script: ${name} ${details}`
  return new AppError('INVALID_INPUT_PARAM', message, { ...more, param: name, details })
}
