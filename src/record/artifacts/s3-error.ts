/** What went wrong in S3, by the code that the server gave, in the six codes of artifacts. */
import { AppError, type ErrorCode } from '#model'

/**
 * `code` is the server's own; `ConnectionLost` or `ConnectionSilent` where it gave no answer.
 */
export class S3Fault extends Error {
  readonly code: string
  readonly status: number

  constructor(code: string, status: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
  }

  static lost(cause: unknown): S3Fault {
    if (cause instanceof S3Fault) return cause
    const { message, code = message } = cause as NodeJS.ErrnoException
    return new S3Fault('ConnectionLost', 0, message || code, cause)
  }
}

const silentCode = 'ConnectionSilent'

/** Of a server that was waited for as long as a call may wait: it is not asked again by itself. */
export const silentFault = (message: string) => new S3Fault(silentCode, 0, message)

export const isSilent = (error: unknown) => error instanceof S3Fault && error.code === silentCode

const kinds: Record<string, ErrorCode> = {
  ConnectionLost: 'S3_CONNECTION_ERROR',
  [silentCode]: 'S3_CONNECTION_ERROR',
  NoSuchBucket: 'S3_CONNECTION_ERROR',
  PermanentRedirect: 'S3_CONNECTION_ERROR',
  NoSuchKey: 'S3_ARTIFACT_NOT_FOUND',
  EntityTooLarge: 'S3_SIZE_LIMIT_EXCEEDED',
  AccessDenied: 'S3_ACCESS_DENIED',
  AllAccessDisabled: 'S3_ACCESS_DENIED',
  AuthorizationHeaderMalformed: 'S3_ACCESS_DENIED',
  ExpiredToken: 'S3_ACCESS_DENIED',
  InvalidAccessKeyId: 'S3_ACCESS_DENIED',
  InvalidToken: 'S3_ACCESS_DENIED',
  RequestTimeTooSkewed: 'S3_ACCESS_DENIED',
  SignatureDoesNotMatch: 'S3_ACCESS_DENIED',
}

const passing = ['OperationAborted', 'ConditionalRequestConflict', 'RequestTimeout', 'SlowDown']

/** Whether the same request may have another answer in a moment. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof S3Fault)) return false
  return error.status === 0 || error.status >= 500 || error.status === 429 || passing.includes(error.code)
}

/** `action` completes "Cannot …"; `byDefault` is for all that has no code of its own. */
export function artifactError(action: string, byDefault: ErrorCode, error: unknown, signal?: AbortSignal): AppError {
  if (signal?.aborted) return new AppError('CANCELLED', `Cannot ${action}: it was cancelled`, {}, error)
  if (error instanceof AppError) return error
  const { message } = error as Error
  if (!(error instanceof S3Fault)) return new AppError(byDefault, `Cannot ${action}: ${message}`, {}, error)
  const { code: s3Code, status } = error
  const kind = kinds[s3Code] ?? (status === 403 || status === 401 ? 'S3_ACCESS_DENIED' : byDefault)
  const said = kind === 'S3_CONNECTION_ERROR' ? `the store of artifacts cannot be reached: ${message}` : message
  return new AppError(kind, `Cannot ${action}: ${said}`, { s3Code }, error)
}
