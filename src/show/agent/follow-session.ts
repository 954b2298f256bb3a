/** Follows a session while it moves: tells each step, and keeps its books in the workspace. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Context } from '#show/cli'
import type { Verbs } from '#verbs'
import { oneLine } from './session-text.ts'
import { showSpeech } from './show-speech.ts'

export type Following = { stop(): Promise<void> }

export function followSession(context: Context, verbs: Verbs, session: string): Following {
  let told = 0
  let steps = 1
  let working: Promise<void> | null = null
  let isAsked = false
  const ending = new AbortController()

  async function look(): Promise<void> {
    // It may have begun, and not be on disk yet.
    if (verbs.linesOf(session).length === 0) return
    const { projectSession, readSession } = await import('#agent')
    const record = await readSession(verbs, session)
    for (const { step, role, does } of record.view.said.slice(told)) {
      if (role === 'assistant') context.note(`step ${step}  ${oneLine(does)}`)
      else if (role === 'system') context.note(`        ${oneLine(does)}`)
    }
    told = record.view.said.length
    steps = record.view.steps
    await projectSession(record)
  }

  /** Each look reads the whole record: together they take a fifth of the time at most. */
  async function lookUntilQuiet(): Promise<void> {
    while (isAsked && !ending.signal.aborted) {
      isAsked = false
      const began = performance.now()
      await look()
      await pause(4 * (performance.now() - began), undefined, ending).catch(() => {})
    }
  }

  /** The result is no less true without its books; `session verify` says what they lack. */
  const noted = (error: Error) => context.note(`Cannot write the books of the session: ${error.message}`)

  /** One at a time; what changes meanwhile is looked at behind it. */
  function changed(): void {
    isAsked = true
    working ??= lookUntilQuiet()
      .catch(noted)
      .finally(() => {
        working = null
      })
  }

  const { terminal } = context
  const hush = terminal === null ? () => {} : showSpeech(terminal, verbs.onSpeech, session, () => steps)
  const unsubscribe = verbs.onChange(changed)
  changed()
  return {
    async stop() {
      unsubscribe()
      hush()
      ending.abort()
      await working
      await look().catch(noted)
    },
  }
}
