/** Why a run is over, and what its last event says. */
import {
  AppError,
  type ErrorData,
  type EventBodies,
  isTextDeeper,
  limits,
  type ProgramEnd,
  RawJson,
  type RunId,
} from '#model'

/** How far a run came under this owner. */
export type Settlement = 'done' | 'failed' | 'cancelled' | 'approval_required' | 'uncertain' | 'interrupted'

/**
 * The end of a run although its program has not ended: what can be ended is, and nothing more is
 * delivered.
 */
export type Stop = { status: 'failed' | 'cancelled'; error: AppError }

export function programLate(timeoutMs: number): AppError {
  const message = `Cannot wait any longer for the program of the task: it did not end in ${timeoutMs} ms`
  return new AppError('CALL_TIMEOUT', message, { timeoutMs })
}

export function cancelledBy({ who, reason }: EventBodies['cancel.asked']): Stop {
  const said = reason === undefined ? '' : `: ${reason}`
  return { status: 'cancelled', error: new AppError('CANCELLED', `The run was cancelled by ${who}${said}`, { who }) }
}

export function stalled(): Stop {
  const message = 'Cannot go on with the program: it waits, but no call is open that could wake it'
  return { status: 'failed', error: new AppError('PROGRAM_STALLED', message, {}) }
}

/**
 * A box that cannot be opened is no fault of the program: its run stays as it is, for a process
 * that can open one. Null for other errors.
 */
export function sandboxUnavailable(error: unknown, run: RunId): AppError | null {
  if (!(error instanceof AppError) || !['SANDBOX_SETUP_FAILED', 'SANDBOX_TIER_DOWNGRADE'].includes(error.code))
    return null
  const message = `${error.message}; "metier run resume ${run}" goes on`
  return new AppError(error.code, message, { ...error.context, run }, error)
}

/** Results that are kept one by one may be more than that together. */
function tooMuch(): ErrorData {
  const most = `at most ${limits.blobBytesMax} bytes are kept`
  const message = `Cannot keep the result of the run: ${most}; page what its calls returned with result`
  return new AppError('RESULT_TOO_LARGE', message, { bytesMax: limits.blobBytesMax }).toJSON()
}

/** A graph nests the results of its tasks once more. */
function tooDeep(): ErrorData {
  const message = `Cannot keep the result of the run: it is nested more deeply than ${limits.programDepthMax} levels; page what its calls returned with result`
  return new AppError('RESULT_TOO_LARGE', message, { depthMax: limits.programDepthMax }).toJSON()
}

type Outcome = Pick<EventBodies['run.finished'], 'status' | 'result' | 'error'>

/** By the end of its program, or by what stopped it before. */
export function outcomeOf(end: Stop | ProgramEnd): Outcome {
  if ('status' in end) return { status: end.status, error: end.error.toJSON() }
  if (!end.ok) return { status: 'failed', error: end.error }
  if (Buffer.byteLength(end.value) > limits.blobBytesMax) return { status: 'failed', error: tooMuch() }
  if (isTextDeeper(end.value, limits.programDepthMax)) return { status: 'failed', error: tooDeep() }
  return { status: 'done', result: new RawJson(end.value) }
}
