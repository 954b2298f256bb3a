/** The whole configuration as one frozen value; parsed once, trusted everywhere. */

import type { Json } from '#model/primitives'
import type { Budget, Effect, EffectKind, PermissionSet, Tier } from '#model/terms'
import type { AwsChain } from './aws-chain.ts'

type ServerCommon = {
  /** By tool name, without the server's. */
  effects: Record<string, Effect>
  stateful: boolean
  concurrency: number
  idleMs: number
}

/**
 * How we get the right to use a server behind an address; without it the server itself says what it
 * needs.
 */
export type OauthConfig = {
  /**
   * `authorization_code`: a person logs in. `client_credentials`: we are the client, and no person
   * takes part.
   */
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

/**
 * A box around a server of this machine: what it sees of the disk, where it may write, what it
 * reaches. All else is not there.
 */
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
  /** Null: it runs unconfined, with the rights of this process. */
  sandbox: ServerSandbox | null
}

export type ServerConfig =
  | (ServerCommon & StdioConfig)
  | (ServerCommon & { type: 'http' | 'sse'; url: string; headers: Record<string, string>; oauth: OauthConfig })

export type PolicyRule = {
  tool?: string
  effect?: EffectKind
  /** By JSON Pointer. */
  args?: Record<string, Json>
  then: 'allow' | 'ask' | 'deny'
}

export const providerNames = ['anthropic', 'openai', 'compatible'] as const
export type ProviderName = (typeof providerNames)[number]

export type ProviderConfig = {
  /** From the file, else from the provider's usual variable. */
  apiKey: string | null
  /** Null: the provider's own address. */
  baseUrl: string | null
  /** In dollars for a million tokens; null: what a request costs is not known. */
  prices: { input: number; output: number } | null
  contextTokens: number
}

/** Keys that were given, or where this machine has them. */
export type S3Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | AwsChain

/** A bucket, or a part of one, of any server that speaks S3. */
export type S3Config = {
  endpoint: string
  region: string
  bucket: string
  /** Without slashes at its ends; empty: the whole bucket. */
  prefix: string
  /** The bucket stands in the path of an address instead of its host. */
  forcePathStyle: boolean
  credentials: S3Credentials
  maxBytes: number
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
  /** Where artifacts are: in the folder of the home, or in S3. */
  artifacts: 'dir' | S3Config
  http: {
    host: string
    port: number
    auth: 'none' | 'token' | 'oauth'
    /** Where clients beyond this machine find us, without a path; null where there are none. */
    url: string | null
    /**
     * Of oauth: who signs tokens, for whom they must be (null: for our own address), and what they
     * must allow.
     */
    issuer: string | null
    audience: string | null
    scope: string
    /** Of one client, in a minute. */
    rate: { requests: number; executes: number }
  }
  /** Where missions and tasks are: a file of the home, or a server that many share. */
  taskGraph: 'sqlite' | { url: string; user: string; password: string; database: string }
  /** What `metier agent` does where its options do not say otherwise. */
  agent: {
    model: string | null
    protocol: 'rebound' | 'tool_code'
    maxSteps: number
    tokens: number
    wallMs: number
    /** Whether the model may use discover, execute and result. */
    tools: boolean
  }
  /** Of language models, by the first word of a model's name. */
  providers: Record<ProviderName, ProviderConfig>
  /** `shared`: what was learned from one subject is offered to others, without its values. */
  learn: { enabled: boolean; shared: boolean }
  /** How sure a verified capability must be to run for an intent alone; null: it never does. */
  speculate: { minConfidence: number | null }
  /** Whether runs are shown there too, as missions. */
  projectRuns: boolean
  /** Values that must never be recorded: what `${VAR}` or a secret-looking name brought in. */
  knownSecrets: string[]
  /** Variables that the file names and the environment does not have. */
  unsetVariables: string[]
  /** Unknown fields of the file, by path: reported by doctor. */
  unknownFields: string[]
}
