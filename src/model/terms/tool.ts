/** What can be called, how often it may be, and what comes of a try. */

import type { Json, JsonObject } from '#model/primitives'
import type { Effect } from './effect.ts'
import type { AppError } from './errors.ts'

export type EffectOrigin = 'configuration' | 'annotations' | 'default' | 'built-in'

/** The server of the tools that run in this process; no configured server has its name. */
export const builtInServer = 'metier'

/**
 * Why a tool is dangerous that does not say of itself whether it destroys: most say nothing at all.
 */
export const effectUnknown = 'effect unknown, it does not say whether it destroys'

export type Tool = {
  /** `server:name`, the one form of a tool's id. */
  id: string
  server: string
  name: string
  description: string
  /** All that is to be said of it, where `description` is only what is searched and listed. */
  documentation?: string
  input: JsonObject
  output?: JsonObject
  /** The shape of what it answered so far, where it does not say so itself. */
  observed?: JsonObject
  annotations: JsonObject
  /** Where arguments decide, the strongest that a call can have. */
  effect: Effect
  effectFrom: EffectOrigin
  /** Where arguments decide: the classes that a call can have, and which one it has. */
  effects?: readonly Effect[]
  effectFor?: (args: Json) => Effect
  /** How long a call may take where the plan does not say; absent: as long as any. */
  timeoutMs?: number
  /** SHA-256 of the definition as the server gave it. */
  digest: string
}

/** What a tool says that a call of it used. */
export type Usage = { tokens?: number; cost?: number }

/** What a server answered, as it came: a result of the protocol, or an error of it. */
export type Answer = { result: Json } | { error: Json }

/**
 * The three outcomes of a try; `answered` with an error is the tool's own word. `answer` is there
 * where it was wanted, `retryAfterMs` where the server said how long to wait (0: not how long), and
 * `retriesMax` where only so many tries are worth it.
 */
export type Try =
  | { outcome: 'not_sent'; error: AppError; retryAfterMs?: number }
  | { outcome: 'answered'; ok: true; value: Json; usage?: Usage; answer?: Answer }
  | { outcome: 'answered'; ok: false; error: AppError; usage?: Usage; answer?: Answer }
  | { outcome: 'unknown'; error: AppError; retriesMax?: number }

/** The servers of an agent's session: a language model, and the files that it works on. */
export const sessionServers = ['model', 'workspace'] as const

const inProcess = [builtInServer, ...sessionServers].map((server) => `${server}:`)

/** Whether it runs in this process: such a tool takes no secrets. */
export function isBuiltIn(id: string): boolean {
  return inProcess.some((start) => id.startsWith(start))
}
