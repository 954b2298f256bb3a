/** Exit codes: what a script can rely on. */
import type { ErrorCode, JsonObject } from '#model'

export const exit = {
  done: 0,
  failed: 1,
  usage: 2,
  configuration: 3,
  unreachable: 4,
  approval: 5,
  refused: 6,
  ledger: 7,
  uncertain: 8,
  timeout: 124,
  interrupted: 130,
} as const

const byError: Partial<Record<ErrorCode, number>> = {
  CONFIG_INVALID: exit.configuration,
  CONFIG_CHANGED: exit.configuration,
  UPSTREAM_UNREACHABLE: exit.unreachable,
  LOGIN_REQUIRED: exit.unreachable,
  NEO4J_CONNECTION_ERROR: exit.unreachable,
  S3_CONNECTION_ERROR: exit.unreachable,
  APPROVAL_DENIED: exit.approval,
  APPROVAL_EXPIRED: exit.approval,
  PERMISSION_DENIED: exit.refused,
  SANDBOX_SETUP_FAILED: exit.refused,
  SANDBOX_TIER_DOWNGRADE: exit.refused,
  LEDGER_BROKEN: exit.ledger,
  CALL_TIMEOUT: exit.timeout,
  SANDBOX_TIMEOUT: exit.timeout,
  CANCELLED: exit.interrupted,
}

export function exitOfError(code: ErrorCode): number {
  return byError[code] ?? exit.failed
}

/** The exit code of an answer of execute. */
export function exitOfAnswer({ status, error, interrupted }: JsonObject): number {
  if (interrupted === true) return exit.interrupted
  switch (status) {
    case 'failed':
      return exitOfError((error as { code: ErrorCode }).code)
    case 'cancelled':
      return exit.interrupted
    case 'approval_required':
      return exit.approval
    case 'uncertain':
      return exit.uncertain
    default:
      return exit.done
  }
}
