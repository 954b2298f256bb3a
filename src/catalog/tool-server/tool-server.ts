/**
 * A server as the catalogue uses it, whatever stands behind its name. Two drivers: an upstream MCP
 * server, which is a child process or an address (entry.ts), and the tools that run in this process
 * (built-in.ts).
 */
import type { AppError, Json, Tool, Try } from '#model'
import type { CallOptions } from './attendant.ts'

export type { Attendant, CallOptions, Progress, Question, ServerNotification } from './attendant.ts'
export { cancelledOf, timeoutOf } from './call-errors.ts'
export { redact, redactTry } from './redact.ts'

export type ToolList = { tools: Tool[]; problems: { server: string; error: AppError }[] }

/**
 * `firstMs` holds in place of `waitMs` for a server whose tools were never listed and whose start
 * has not failed.
 */
export type Patience = { waitMs?: number; firstMs?: number }

export type ToolServer = {
  name: string
  /** What makes it the same server: a run goes on only with the digests that it started with. */
  digest: string
  /** As it listed them last; null before it did. */
  tools: Tool[] | null
  /** `refresh` asks the server also where its tools are known. */
  list(refresh: boolean, patience: Patience): Promise<ToolList>
  /** Calls `commit` right before the request leaves; resolves with one of the three outcomes. */
  try(tool: Tool, args: Json, options: CallOptions): Promise<Try>
}
