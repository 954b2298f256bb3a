/**
 * The key that names a request: it answers with the run that it started, to the same subject and
 * for the same request only.
 */
import { AppError, type RunId, sha256 } from '#model'
import type { Store } from '#record'
import type { AskedRequest, Engine } from '#run'

/** Who asks, where the gateway tells people apart. */
type Asker = { subject?: string }

/**
 * Each subject that the gateway tells apart has keys of its own. Callers without one (the terminal,
 * a gateway without OAuth) share theirs: a client that repeats a request after a lost answer may
 * come by another way.
 */
export function scopedKey(key: string, { subject }: Asker): string {
  return subject === undefined ? key : `${sha256(subject).slice(0, 32)} ${key}`
}

/**
 * A run that the subject started when keys were not yet kept apart: the record names it as the
 * actor.
 */
export function earlierHolder(store: Store, key: string, { subject }: Asker): RunId | undefined {
  const run = subject === undefined ? undefined : store.runByKey(key)
  const name = run === undefined ? undefined : store.startedEvents([run]).get(run)?.actor.name
  return name?.startsWith(`${subject} (`) ? run : undefined
}

/** What is known changes: the run that an intent alone began stays the answer to its key. */
export function begunForIntent(
  store: Store,
  { intent, key }: Pick<AskedRequest, 'intent' | 'key'>,
  asker: Asker,
): RunId | null {
  const run = key === undefined ? undefined : store.runByKey(scopedKey(key, asker))
  const started = run === undefined ? undefined : store.startedEvents([run]).get(run)
  return started?.speculated !== undefined && started.intent === intent ? run! : null
}

/**
 * Null where the request is the one that the key names. A key that is given to another request by
 * mistake must neither run it nor answer for it: that refusal is not about the run that holds the
 * key.
 */
export function refusalOfOther(
  { store, engine }: { store: Store; engine: Engine },
  holder: RunId,
  request: AskedRequest,
): AppError | null {
  if (store.isPurged(holder) || engine.isOf(holder, request)) return null
  const details = `it names the request of run ${holder}, which has another plan or other arguments; take another key`
  return new AppError('INVALID_INPUT_PARAM', `Cannot start a run with this key: ${details}`, {
    param: 'key',
    details,
    run: holder,
  })
}
