/** metier:execute_script_in_sandbox: a script of an agent in a box that is thrown away after it. */

import type { BuiltInTool, Call, Documentation, Parts } from '#catalog/built-in'
import { AppError, type Effect, type Json, type JsonObject, limits } from '#model'
import { checkScriptRequest, type ScriptInput, type ScriptRequest, type ScriptResult } from '#sandbox'
import { checkStoragePath, inToolWords, requestOf, type ScriptArguments } from './script-request.ts'
import { type StoredOutput, storeOutput } from './store-output.ts'

const { scriptTimeoutSecondsDefault: secondsDefault, scriptTimeoutSecondsMax: secondsMax } = limits
const megabyte = 1024 * 1024
const printedMegabytes = limits.scriptOutputBytesMax / megabyte
const fileMegabytes = limits.artifactBytesMax / megabyte
const outputsMegabytes = limits.scriptOutputFilesBytesMax / megabyte

const documentation: Documentation = {
  objective: 'Run a Python, Bash or Go script in an isolated sandbox and return what it printed.',
  description:
    'The script has no network and sees no file of this machine but the artifacts that are handed to it, read-only below /inputs/. ' +
    'What it writes is gone when it ends, but for the files below /outputs/ that are named in outputs: they become artifacts. Use it for calculations, and for code that must touch nothing else.',
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
      name: 'config.outputs',
      type: 'array of path',
      text: `Files that become artifacts when the script has ended, whatever its exit code: absolute paths below /outputs/, which is there only then. Regular files alone, at most ${limits.scriptOutputFilesMax}, no path twice, each at most ${fileMegabytes} MB and ${outputsMegabytes} MB together.`,
      ifOmitted: 'nothing that the script writes is kept.',
    },
    {
      name: 'config.tier',
      type: 'string',
      text: 'The box that must hold the script: "os" (bubblewrap) or "gvisor". Never one below sandbox.minTier of the configuration.',
      ifOmitted: 'the strongest that this machine has.',
    },
  ],
  returns: [
    { name: 'stdout', type: 'string', text: `At most ${printedMegabytes} MB; what is no UTF-8 is U+FFFD.` },
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
    {
      name: 'artifacts',
      type: 'array of { path, artifactID, storagePath, bytes, sha256 }',
      text: 'There where outputs was given: each file of it that was stored, by its path in the box.',
    },
    {
      name: 'missing',
      type: 'array of { path, reason }',
      text: 'There where outputs was given: each file of it that was not stored, as "absent", "not_regular" (a link, a folder, a pipe), "too_large" or "unreadable".',
    },
  ],
  errors: {
    MISSING_REQUIRED_PARAM: 'interpreter or scriptContent is missing.',
    INVALID_INPUT_PARAM:
      'a parameter is no string, empty, too large or off its list (then with allowed_values); a storage path or a path below /inputs/ or /outputs/ is malformed; a path stands twice.',
    SANDBOX_INVALID_INTERPRETER: 'interpreter is off the list; allowed_values has it.',
    PERMISSION_DENIED: 'OUTBOUND_LIMITED where sandbox.outbound is empty.',
    S3_ARTIFACT_NOT_FOUND: 'there is no artifact at a storage path.',
    S3_ACCESS_DENIED: 'the store does not let us read an artifact.',
    S3_DOWNLOAD_FAILED: 'an artifact could not be read to its end, or is not the one that was stored.',
    S3_CONNECTION_ERROR: 'the store of artifacts cannot be reached.',
    S3_UPLOAD_FAILED: 'an output could not be stored.',
    S3_SIZE_LIMIT_EXCEEDED: 'an output is longer than the store takes; max has the limit.',
    STORE_FULL: 'there is no room for an output.',
    SANDBOX_TIMEOUT: `the script ran too long; stdout and stderr have the first ${limits.scriptErrorOutputBytesMax} bytes of each.`,
    SANDBOX_RESOURCE_LIMIT: 'the script needed too much memory, or printed too much.',
    SANDBOX_SETUP_FAILED: 'this machine has no box or no such interpreter; the message says what to install.',
    SANDBOX_TIER_DOWNGRADE: 'only a weaker box is left than was used before.',
    SANDBOX_EXECUTION_FAILED: 'the box died under the script, or before its outputs were handed out.',
    TOOL_INTERNAL_ERROR: 'something that nobody expected.',
  },
  preconditions: [
    'The interpreter is installed on this machine ("metier doctor" says so).',
    'Every artifact of inputArtifacts exists.',
  ],
  postconditions: [
    'The result has what the script printed. Nothing of the box is left.',
    'Each file of artifacts is stored and belongs to the run.',
  ],
  idempotence:
    'Yes with networkPolicy NONE: each try runs the script again. Without outputs it leaves nothing behind (effect "read"); with them the id of an artifact follows from run, call, path and content, so that a repeated try stores nothing twice (effect "idempotent"). No with OUTBOUND_LIMITED (effect "unsafe").',
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
      given: { interpreter: 'ruby' },
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
          outputs: { type: 'array', items: { type: 'string' } },
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
      artifacts: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            path: { type: 'string' },
            artifactID: { type: 'string' },
            storagePath: { type: 'string' },
            bytes: { type: 'integer' },
            sha256: { type: 'string' },
          },
          required: ['path', 'artifactID', 'storagePath', 'bytes', 'sha256'],
        },
      },
      missing: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            path: { type: 'string' },
            reason: { type: 'string', enum: ['absent', 'not_regular', 'too_large', 'unreadable'] },
          },
          required: ['path', 'reason'],
        },
      },
    },
    required: ['stdout', 'stderr', 'exitCode', 'truncated', 'isolation'],
  },
  annotations: { title: 'Run a script in a sandbox', openWorldHint: true },
  effect: 'unsafe',
  byArguments: { effects: ['read', 'idempotent', 'unsafe'], effectFor },
  timeoutMs: limits.scriptCallMsMax,
  problemOf,
  run,
}

/**
 * Whatever is not plainly without a network is unsafe: arguments that do not fit are refused, but
 * classed before.
 */
function effectFor({ config }: JsonObject): Effect {
  const { networkPolicy = 'NONE', outputs = [] } = (config ?? {}) as { networkPolicy?: Json; outputs?: Json }
  if (networkPolicy !== 'NONE') return 'unsafe'
  return Array.isArray(outputs) && outputs.length === 0 ? 'read' : 'idempotent'
}

/** Refused before a human is asked about it, and before anything is read. */
function problemOf(given: JsonObject, { outbound }: Parts): AppError | null {
  const args = given as ScriptArguments
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

async function run(given: JsonObject, { artifacts, boxes }: Parts, call: Call): Promise<Json> {
  const args = given as ScriptArguments
  const stored: StoredOutput[] = []
  const onOutput: ScriptRequest['onOutput'] = async (output) => {
    stored.push(await storeOutput(artifacts, call, output))
  }
  const found = Object.keys(args.config?.inputArtifacts ?? {}).map(async (storagePath) => {
    const artifact = await artifacts.get(storagePath, call.signal)
    if (artifact !== null) return artifact.content
    const message = `Cannot hand over the artifact "${storagePath}": there is none`
    throw new AppError('S3_ARTIFACT_NOT_FOUND', message, { storagePath })
  })
  try {
    const request = requestOf(args, await Promise.all(found))
    const result = await boxes().run({ ...request, onOutput, signal: call.signal })
    return resultOf(result, args.config?.outputs && stored)
  } catch (thrown) {
    throw inToolWords(thrown)
  }
}

const nothing: ScriptInput['source'] = (async function* () {})()

function resultOf(result: ScriptResult, artifacts: StoredOutput[] | undefined): Json {
  const { stdout, stderr, exitCode, truncated, clamped, isolation, missing } = result
  const printed = { stdout, stderr, exitCode, truncated, ...(clamped && { clamped }), isolation }
  return { ...printed, ...(artifacts && { artifacts, missing }) }
}
