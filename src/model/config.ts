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

/** How we get the right to use a server behind an address; without it the server itself says what it needs. */
export type OauthConfig = {
  /** `authorization_code`: a person logs in. `client_credentials`: we are the client, and nobody is asked. */
  grant: 'authorization_code' | 'client_credentials'
  clientId?: string
  clientSecret?: string
  /** PKCS #8, instead of a secret. */
  privateKey?: string
  scope?: string
  /** The only authorization server that may see us. */
  issuer?: string
  /** Where a client-id metadata document of ours is published. */
  clientMetadataUrl?: string
  /** 0 takes any. */
  redirectPort: number
}

/** A box around a server of this machine: what it sees of the disk, where it may write, what it reaches. All else is not there. */
export type ServerSandbox = {
  tier: 'os'
  /** Absolute. Those of `write` can be read too. */
  folders: string[]
  write: string[]
  /** `host` (ports 80 and 443) or `host:port`. */
  hosts: string[]
}

type StdioConfig = {
  type: 'stdio'
  command: string
  args: string[]
  env: Record<string, string>
  cwd: string
  /** Null: it runs unconfined, as whoever started us. */
  sandbox: ServerSandbox | null
}

export type ServerConfig =
  | (ServerCommon & StdioConfig)
  | (ServerCommon & { type: 'http' | 'sse'; url: string; headers: Record<string, string>; oauth: OauthConfig })

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
  /** How long a question waits for a human, and the address that is told of it. */
  approvals: { expireMs: number; webhook: string | null }
  /** `operations`: whether the pure operations of programs are recorded. */
  record: { retentionDays: number | null; secrets: string[]; operations: boolean }
  http: {
    host: string
    port: number
    auth: 'none' | 'token' | 'oauth'
    /** Where clients beyond this machine find us, without a path; null where there are none. */
    url: string | null
    /** Of oauth: who signs tokens, for whom they must be (null: for our own address), and what they must allow. */
    issuer: string | null
    audience: string | null
    scope: string
    /** Of one client, in a minute. */
    rate: { requests: number; executes: number }
  }
  /** Values that must never be recorded: what `${VAR}` or a secret-looking name brought in. */
  knownSecrets: string[]
  /** Variables that the file names and the environment does not have. */
  unsetVariables: string[]
  /** Fields of the file that nobody reads, by path: said aloud by doctor. */
  unknownFields: string[]
}
