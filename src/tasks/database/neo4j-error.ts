/**
 * What went wrong in Neo4j, in the codes of the task graph; the driver's own retries are over by
 * then.
 */
import { AppError, type ErrorCode } from '#model'

type Neo4jError = Error & { code?: string; retriable?: boolean }

export function toGraphError(error: unknown, url: string): unknown {
  const { code, retriable } = error as Neo4jError
  if (error instanceof AppError || typeof code !== 'string') return error
  const kind = kindOf(code, retriable === true)
  return new AppError(kind, `${texts[kind]} (${url}): ${reasonOf(error as Neo4jError)}`, { neo4jCode: code }, error)
}

/** Of a server that answers nothing, neither yes nor no. */
export function silentError(url: string, ms: number): AppError {
  const message = `${texts.NEO4J_CONNECTION_ERROR} (${url}): no answer within ${ms} ms`
  return new AppError('NEO4J_CONNECTION_ERROR', message, { neo4jCode: 'ServiceUnavailable' })
}

/** What befell the connection, where the driver wraps that in advice and routing tables. */
function reasonOf({ message, cause }: Neo4jError): string {
  if (cause instanceof Error) return reasonOf(cause)
  return /Caused by: (.+)/.exec(message)?.[1] ?? message
}

const texts = {
  NEO4J_CONNECTION_ERROR: 'Cannot reach the task graph',
  NEO4J_TRANSACTION_ERROR: 'Cannot complete the transaction, try again',
  NEO4J_CONSTRAINT_VIOLATION: 'Cannot change the graph: a constraint of the database holds it back',
  NEO4J_QUERY_ERROR: 'Cannot run the statement',
  PERMISSION_DENIED: 'Cannot use the task graph: the database refuses its user',
} as const satisfies Partial<Record<ErrorCode, string>>

/** Codes of the server begin with "Neo."; all others are the driver's, about its connections. */
function kindOf(code: string, isRetriable: boolean): keyof typeof texts {
  if (code === 'Neo.ClientError.Schema.ConstraintValidationFailed') return 'NEO4J_CONSTRAINT_VIOLATION'
  if (code.startsWith('Neo.ClientError.Security.')) return 'PERMISSION_DENIED'
  if (!code.startsWith('Neo.') || code.includes('DatabaseUnavailable')) return 'NEO4J_CONNECTION_ERROR'
  if (code === 'Neo.ClientError.Database.DatabaseNotFound') return 'NEO4J_CONNECTION_ERROR'
  if (isRetriable || code.startsWith('Neo.TransientError.') || code.startsWith('Neo.ClientError.Transaction.'))
    return 'NEO4J_TRANSACTION_ERROR'
  return 'NEO4J_QUERY_ERROR'
}
