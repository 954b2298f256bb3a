/** The tools of a workspace: files are written first, then scripts run that are on the record. */

import type { Ran, StoredOutput } from '#agent/protocol'
import { guardedIn, hiddenIn, partsOf, readPlain, refused, stepFolder, writePlain } from '#agent/workspace'
import { AppError, type Json, type JsonObject, limits, sha256 } from '#model'
import type { ScriptBoxes, ScriptRequest, WorkspaceView } from '#sandbox'
import type { Artifacts } from '#verbs'
import type { SessionCall, SessionTool } from './session-servers.ts'
import { storeOutput } from './store-output.ts'

type WorkspaceParts = {
  /** The workspace of a session, by its run. */
  folderOf(run: string): string
  /** What belongs to us on this machine, wherever it lies. */
  own: readonly string[]
  boxes(): ScriptBoxes
  artifacts(): Promise<Artifacts>
  discover(input: Json): Promise<Json>
  result(input: JsonObject): Promise<Json>
}

const stepPath = /^(artifacts\/step_\d{8}_\d{6}_tool_request)(_\d+)?\/(tool_script\.py|tool_output\.txt)$/

export function workspaceTools(parts: WorkspaceParts): Record<string, SessionTool> {
  const timeoutMs = limits.callTimeoutMsDefault
  const scriptMs = limits.scriptTimeoutSecondsMax * 1000 + limits.scriptBoxStartMsMax
  return {
    write: { effect: 'idempotent', timeoutMs, run: (args, { run }) => write(parts, parts.folderOf(run), args) },
    write_step: { effect: 'idempotent', timeoutMs, run: (args, { run }) => writeStep(parts.folderOf(run), args) },
    run: {
      effect: 'read',
      timeoutMs: scriptMs,
      run: (args, call) => runScript(parts, args, call),
    },
    discover: { effect: 'read', timeoutMs, run: (args) => parts.discover(args) },
    result: { effect: 'read', timeoutMs, run: (args, { run }) => resultPage(parts, args, run) },
  }
}

async function write(parts: WorkspaceParts, folder: string, { path, content, encoding }: JsonObject): Promise<Json> {
  const names = partsOf(String(path), await guardedIn(folder, parts.own))
  const bytes = Buffer.from(String(content), encoding === 'base64' ? 'base64' : 'utf8')
  if (bytes.length > limits.agentFileBytesMax)
    throw refused(String(path), `names a file of more than ${limits.agentFileBytesMax} bytes`)
  return writePlain(folder, names, bytes)
}

/** Script and output of a step; the folder is chosen here, so that two of one second differ. */
async function writeStep(folder: string, { path, content }: JsonObject): Promise<Json> {
  const [, wanted, number = '', name] = stepPath.exec(String(path)) ?? []
  if (wanted === undefined) throw refused(String(path), 'is not that of a step')
  const bytes = Buffer.from(String(content))
  const place = name === 'tool_script.py' ? await stepFolder(folder, wanted, bytes) : `${wanted}${number}`
  return writePlain(folder, [...place.split('/'), name!], bytes)
}

/** Text in pages that a request has room for, of the session itself where no other run is named. */
async function resultPage(parts: WorkspaceParts, args: JsonObject, session: string): Promise<Json> {
  const { run = session, call, path, offset, ...rest } = args
  const unknown = Object.keys(rest)
  if (unknown.length > 0) throw wrongArgument(unknown[0]!, 'result takes call, path, offset and run here')
  if (run === session && call === undefined) throw wrongArgument('call', 'say which call of this session')
  const asked = { run, ...(call !== undefined && { call }), ...(path !== undefined && { path }) }
  return parts.result({ ...asked, ...(offset !== undefined && { offset }), format: 'text' })
}

function wrongArgument(param: string, details: string): AppError {
  return new AppError('INVALID_INPUT_PARAM', `Cannot page the result: ${details}`, { param, details })
}

type RunAnswer = Ran & { forbidden?: string; tier?: string }

/** The bytes that were hashed are the bytes that run. */
async function runScript(parts: WorkspaceParts, args: JsonObject, call: SessionCall): Promise<Json> {
  const { path, sha256: digest, timeoutSeconds } = args
  const folder = parts.folderOf(call.run)
  const none = { stdout: '', stderr: '' }
  let bytes: Buffer | null
  try {
    bytes = await readPlain(folder, String(path), limits.agentScriptBytesMax)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'PERMISSION_DENIED') throw error
    return { returncode: 'refused', ...none, forbidden: error.message } satisfies RunAnswer
  }
  if (bytes === null) return { returncode: 'failed', ...none, stderr: `Cannot run ${path}: there is no such file` }
  if (digest === null)
    return { returncode: 'failed', ...none, stderr: `Cannot run ${path}: no answer of this session has written it` }
  if (sha256(bytes) !== digest)
    return { returncode: 'failed', ...none, stderr: `Cannot run ${path}: it is not the file that was written` }
  const hidden = await hiddenIn(folder, parts.own)
  const workspace: WorkspaceView = { folder, script: String(path), hidden }
  const script = { interpreter: 'python', script: bytes.toString('utf8'), workspace }
  return ranIn(parts, { ...script, timeoutSeconds: Number(timeoutSeconds) }, call)
}

async function ranIn(parts: WorkspaceParts, script: ScriptRequest, call: SessionCall): Promise<RunAnswer> {
  const artifacts: StoredOutput[] = []
  const onOutput: ScriptRequest['onOutput'] = async (output) => {
    artifacts.push(await storeOutput(await parts.artifacts(), call, output))
  }
  try {
    const request = { ...script, outputs: 'all' as const, onOutput, signal: call.signal }
    const { exitCode, stdout, stderr, isolation, missing } = await parts.boxes().run(request)
    const left = { ...(artifacts.length > 0 && { artifacts }), ...(missing.length > 0 && { missing }) }
    return { returncode: exitCode, stdout, stderr, ...left, tier: isolation.tier }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const { stdout = '', stderr = '' } = error.context as { stdout?: string; stderr?: string }
    if (error.code === 'SANDBOX_TIMEOUT') return { returncode: 'timeout', stdout, stderr }
    if (error.code === 'INVALID_INPUT_PARAM') return { returncode: 'refused', stdout, stderr: error.message }
    if (error.code !== 'SANDBOX_RESOURCE_LIMIT') throw error
    return { returncode: 'failed', stdout, stderr: `${stderr}\n${error.message}`.trim() }
  }
}
