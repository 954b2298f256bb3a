/**
 * The one error of the world: a code from one list, a message that says what to do next, and a
 * context a model can act on.
 */

/** What the client can do about it: send other input, send the same again, or stop. */
export type Fate = 'correct' | 'retry' | 'give_up'

/** The 22 codes of specs/autoagent-tools.md §1 first, then ours. */
export const fates = {
  INVALID_INPUT_PARAM: 'correct',
  MISSING_REQUIRED_PARAM: 'correct',
  NEO4J_NODE_NOT_FOUND: 'give_up',
  NEO4J_RELATIONSHIP_NOT_FOUND: 'give_up',
  NEO4J_CONSTRAINT_VIOLATION: 'give_up',
  NEO4J_QUERY_ERROR: 'correct',
  NEO4J_CONNECTION_ERROR: 'retry',
  NEO4J_TRANSACTION_ERROR: 'retry',
  S3_ARTIFACT_NOT_FOUND: 'give_up',
  S3_ACCESS_DENIED: 'give_up',
  S3_UPLOAD_FAILED: 'retry',
  S3_DOWNLOAD_FAILED: 'retry',
  S3_CONNECTION_ERROR: 'retry',
  S3_SIZE_LIMIT_EXCEEDED: 'correct',
  SANDBOX_INVALID_INTERPRETER: 'correct',
  SANDBOX_TIMEOUT: 'correct',
  SANDBOX_SETUP_FAILED: 'give_up',
  SANDBOX_EXECUTION_FAILED: 'give_up',
  SANDBOX_RESOURCE_LIMIT: 'correct',
  SANDBOX_SCRIPT_ERROR: 'correct',
  TOOL_INTERNAL_ERROR: 'retry',
  PERMISSION_DENIED: 'give_up',

  TOOL_ERROR: 'correct',
  TOOL_NOT_FOUND: 'correct',
  TOOL_CHANGED: 'give_up',
  UPSTREAM_UNREACHABLE: 'retry',
  UPSTREAM_STATE_LOST: 'give_up',
  CALL_TIMEOUT: 'retry',
  APPROVAL_DENIED: 'give_up',
  APPROVAL_EXPIRED: 'retry',
  BUDGET_EXCEEDED: 'correct',
  CANCELLED: 'give_up',
  PLAN_INVALID: 'correct',
  PROGRAM_ERROR: 'correct',
  PROGRAM_STALLED: 'correct',
  REPLAY_MISMATCH: 'give_up',
  RESULT_TOO_LARGE: 'correct',
  RUN_NOT_FOUND: 'correct',
  RUN_OWNED: 'retry',
  RUN_PURGED: 'give_up',
  CONFIG_INVALID: 'correct',
  CONFIG_CHANGED: 'give_up',
  SANDBOX_TIER_DOWNGRADE: 'give_up',
  STORE_FULL: 'retry',
  LEDGER_BROKEN: 'give_up',
  LOGIN_REQUIRED: 'give_up',
} as const satisfies Record<string, Fate>

export type ErrorCode = keyof typeof fates

export type ErrorContext = Record<string, unknown>

/** Contexts whose shape others rely on; every other code takes any object. */
export type ContextOf<Code extends ErrorCode> = Code extends 'INVALID_INPUT_PARAM'
  ? { param: string; details: string; value?: unknown; allowed_values?: readonly unknown[] } & ErrorContext
  : Code extends 'MISSING_REQUIRED_PARAM'
    ? { param: string } & ErrorContext
    : Code extends 'NEO4J_NODE_NOT_FOUND'
      ? { nodeID: string } & ErrorContext
      : ErrorContext

/** An error as it stands in the record, in an answer and in a program. */
export type ErrorData = { code: ErrorCode; message: string; context: ErrorContext; fate: Fate }

export class AppError<Code extends ErrorCode = ErrorCode> extends Error {
  readonly code: Code
  readonly context: ContextOf<Code>

  constructor(code: Code, message: string, context?: ContextOf<Code>, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'AppError'
    this.code = code
    this.context = context ?? ({} as ContextOf<Code>)
  }

  get fate(): Fate {
    return fates[this.code]
  }

  override toString(): string {
    const context = Object.keys(this.context).length > 0 ? ` (Context: ${JSON.stringify(this.context)})` : ''
    return `[${this.code}] ${this.message}${context}${this.cause === undefined ? '' : ` (Caused by: ${this.cause})`}`
  }

  toJSON(): ErrorData {
    return { code: this.code, message: this.message, context: this.context, fate: this.fate }
  }
}

/**
 * An error about a run that has begun. It carries the run's id, and its fate is never `retry`: the
 * same request sent again would begin a second run, and repeat what the first one did.
 */
export class RunError extends AppError {
  readonly run: string
  /** As an answer says it; null where it could not be read. */
  readonly status: string | null

  constructor(run: string, status: string | null, thrown: unknown) {
    const cause = toAppError(thrown)
    const context = { ...cause.context, run } as ContextOf<ErrorCode>
    super(cause.code, runMessage(run, status, thrown, cause), context, thrown)
    this.run = run
    this.status = status
  }

  override get fate(): Fate {
    return super.fate === 'retry' ? 'give_up' : super.fate
  }
}

/**
 * What can be corrected says so itself; of the rest it is said which run it is about, and what to
 * do instead of sending it again.
 */
function runMessage(run: string, status: string | null, thrown: unknown, { message, fate }: AppError): string {
  const said = thrown instanceof AppError ? message : `Cannot make the answer: ${message}`
  if (fate !== 'retry' || message.includes(run)) return said
  const state = status === null ? 'has begun' : `is ${status}`
  return `${said}. The run ${run} ${state}: resume it, and do not send its request again`
}

/** An error as an answer, beside the run that it is about. */
export function errorAnswer(error: AppError): { status?: string; run?: string; error: AppError } {
  if (!(error instanceof RunError)) return { error }
  return { ...(error.status === null ? {} : { status: error.status }), run: error.run, error }
}

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(fates, code)
}

/**
 * Whatever was thrown, as an AppError: what we did not foresee is TOOL_INTERNAL_ERROR, with its
 * cause kept.
 */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return new AppError('TOOL_INTERNAL_ERROR', message, {}, thrown)
}

/** An AppError from its recorded form. */
export function fromErrorData({ code, message, context }: ErrorData): AppError {
  return new AppError(code, message, context as never)
}
