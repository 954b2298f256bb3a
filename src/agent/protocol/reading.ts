/** What an answer of the model comes to, whichever protocol it follows. */

/** A file that the model wants written. */
export type Draft = { path: string; content: string; encoding: 'utf8' | 'base64' }

export type Reading =
  /** The answer breaks the protocol: the model is told why. */
  | { kind: 'mistake'; reason: string }
  | { kind: 'final'; text: string; thought: string; drafts: Draft[] }
  /** `target_script` runs, and what it printed goes on under the prompt. */
  | { kind: 'script'; thought: string; drafts: Draft[]; target: string; prompt: string }
  /** The text of a script that is not a file yet. */
  | { kind: 'tool'; thought: string; code: string }

export function mistake(reason: string): Reading {
  return { kind: 'mistake', reason }
}

/** What some models think aloud before they answer is no part of the answer. */
export function withoutThoughts(text: string): string {
  return text.replace(/<(think|thinking|reasoning)>[\s\S]*?<\/\1>/gi, '')
}
