/**
 * What the verbs do for the agent's sessions beside moving them: their books are written whenever
 * one came to rest, and what a model says is passed on while it says it.
 */
import type { RunId } from '#model'
import type { Store } from '#record'
import type { RecordVerbs, SessionKit, SpeechListener } from './contract.ts'

export function openSessions(kit: SessionKit | null, record: RecordVerbs, store: Store, log: (line: string) => void) {
  const listeners = new Set<SpeechListener>()
  const writing = new Set<Promise<void>>()
  const hear: SpeechListener = (run, text) => {
    for (const listener of listeners) listener(run, text)
  }
  return {
    /** Models stream only where there is a listener: the record is the same. */
    kit:
      kit &&
      ({
        ...kit,
        servers: (parts) => kit.servers(parts, () => (listeners.size > 0 ? hear : undefined)),
      } satisfies SessionKit | null),
    onSpeech(listener: SpeechListener): () => void {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    /** What is done with a run that came to rest; `then` is done with each. */
    settling: (then: (run: RunId) => void) => (run: RunId) => {
      then(run)
      if (kit === null || !isSession(store, run)) return
      const written = kit
        .writeBooks(record, run)
        .catch((error: Error) => log(`Cannot write the books of session ${run}: ${error.message}`))
        .finally(() => writing.delete(written))
      writing.add(written)
    },
    async close(): Promise<void> {
      await Promise.all(writing)
    },
  }
}

function isSession(store: Store, run: RunId): boolean {
  const started = store.startedEvents([run]).get(run)
  return started !== undefined && (store.value(started.plan) as { kind: string }).kind === 'agent'
}
