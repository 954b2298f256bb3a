/**
 * A built-in tool: what is said of it, what it takes and answers with, and the function that does
 * it.
 */
import type { AppError, Effect, Json, JsonObject } from '#model'
import type { Artifacts } from '#record'
import type { ScriptBoxes } from '#sandbox'
import type { TaskGraph } from '#tasks'
import type { Documentation } from './documentation.ts'

/** Reads a result by run, call and JSON Pointer; throws where there is none. */
export type ResultText = (asked: { run?: unknown; call?: unknown; path?: unknown }) => string

/** What the tools work on. */
export type Parts = {
  artifacts: Artifacts
  /** What a script may reach, as `host:port`. */
  outbound: readonly string[]
  /** Opened with the first script. */
  boxes(): ScriptBoxes
  /** Opened with the first tool that uses it. */
  graph(): Promise<TaskGraph>
  /** A recorded result, or a part of it, as JSON text. */
  resultText: ResultText
}

/** Which try of which run it is: what a tool writes is named after it. */
export type Call = { run?: string; call?: string; signal: AbortSignal }

export type BuiltInTool = {
  name: string
  documentation: Documentation
  input: JsonObject
  output: JsonObject
  annotations: JsonObject
  /** The strongest class that a call of it can have. */
  effect: Effect
  /** The class of one call, where its arguments decide, and every class that can come of it. */
  byArguments?: { effects: readonly Effect[]; effectFor(args: JsonObject): Effect }
  /**
   * How long a call may take where the caller does not say: longer than the default where the tool
   * has a limit of its own.
   */
  timeoutMs?: number
  /**
   * What the schema cannot say of arguments that fit it. Asked before anything is decided about the
   * call; touches nothing.
   */
  problemOf?(args: JsonObject, parts: Parts): AppError | null
  run(args: JsonObject, parts: Parts, call: Call): Promise<Json>
}
