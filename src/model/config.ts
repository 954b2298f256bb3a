/** The whole configuration as one frozen value; parsed once, trusted everywhere. */
import type { Tier } from './isolation.ts'
import type { Json } from './json.ts'
import type { Budget, PermissionSet } from './plan.ts'
import type { Effect } from './tool.ts'

type ServerCommon = {
  /** By tool name, without the server's. */
  effects: Record<string, Effect>
  stateful: boolean
  concurrency: number
  idleMs: number
}

export type ServerConfig =
  | (ServerCommon & { type: 'stdio'; command: string; args: string[]; env: Record<string, string>; cwd: string })
  | (ServerCommon & { type: 'http' | 'sse'; url: string; headers: Record<string, string> })

export type PolicyRule = {
  tool?: string
  effect?: string
  /** By JSON Pointer. */
  args?: Record<string, Json>
  then: 'allow' | 'ask' | 'deny'
}

export type Config = {
  /** The file it came from; null where there is none. */
  file: string | null
  home: string
  servers: Record<string, ServerConfig>
  expose: string[]
  policy: { permissions: PermissionSet; rules: PolicyRule[] }
  sandbox: { minTier: Tier; engine: 'quickjs' | 'v8'; outbound: string[] }
  budget: Budget
  record: { retentionDays: number | null; secrets: string[] }
  http: { host: string; port: number; auth: 'none' | 'token' | 'oauth' }
  /** Values that must never be recorded: what `${VAR}` or a secret-looking name brought in. */
  knownSecrets: string[]
  /** Variables that the file names and the environment does not have. */
  unsetVariables: string[]
  /** Fields of the file that nobody reads, by path: said aloud by doctor. */
  unknownFields: string[]
}
