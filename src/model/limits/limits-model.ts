/** Limits of language models: what is read of an answer, and what a request shows of the past. */
export const modelLimits = {
  /** Of one answer, as it comes over the wire. */
  modelAnswerBytesMax: 16 * 1024 * 1024,
  /** Of a file of scripted answers, or a cassette. */
  modelFileBytesMax: 64 * 1024 * 1024,
  /** Of one question whether a provider can be reached. */
  modelProbeMsMax: 2000,
  /** Brackets that open an object and are never closed, before the rest is not looked at. */
  jsonStartsMax: 64,
  /** Of JSON in which small mistakes are corrected. */
  jsonCorrectedCharactersMax: 1024 * 1024,
  /** A longer history is shortened, as is one that fills more of the model's window. */
  historyBytesMax: 768 * 1024,
  historyWindowPercent: 60,
  /** The last steps of a history that is shortened, which stay as they are. */
  historyWholeSteps: 3,
  /** Of the head, and of the tail, of what an older step printed. */
  historyStreamCharacters: 500,
  /** Where the configuration does not say how long a model's window is. */
  anthropicContextTokens: 200_000,
  openaiContextTokens: 128_000,
  compatibleContextTokens: 32_768,
  scriptedContextTokens: 200_000,
  /** Of one request, where the budget would allow more. */
  modelAnswerTokensMax: 32_000,
  modelCallMs: 600_000,
  /** Of a request that may have been answered: each costs tokens. */
  modelUnknownRetriesMax: 1,
  /** Of what is printed, as the model is told of it. */
  feedbackBytesMax: 64 * 1024,
  equalFailuresMax: 3,
  /** How long the scripts of the two protocols may take, and how large they may be. */
  toolScriptSeconds: 20,
  reboundScriptSeconds: 60,
  agentScriptBytesMax: 1024 * 1024,
  /** Of one file that a model writes. */
  agentFileBytesMax: 8 * 1024 * 1024,
  agentPathBytesMax: 1024,
  /** Of all files together that one script leaves below `/outputs`. */
  agentOutputBytesMax: 20 * 1024 * 1024,
  /** Entries of a workspace that are looked at for what must be hidden from a script. */
  workspaceEntriesMax: 50_000,
  workspaceHiddenMax: 500,
  agentStepsDefault: 10,
  agentStepsMax: 1000,
  agentTokensDefault: 200_000,
  agentWallMsDefault: 60 * 60 * 1000,
} as const
