/** What tests of the record share: a store in a folder of its own, and runs to fill it with. */
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type EventBodies, type Json, type LogLine, newId, type RunId } from '#model'
import { type Chain, openStore, type Store, type StoreOptions } from '#record'
import { temporaryFolder } from './temporary-folder.ts'

export const sampleStart: EventBodies['run.started'] = {
  intent: 'count the sheep',
  mode: 'run',
  plan: { kind: 'code', source: 'return 1', digest: '00' },
  args: null,
  actor: { kind: 'cli', name: 'shepherd' },
  permissions: 'standard',
  budget: { calls: 10, wallMs: 1000, bytes: 1000 },
  seed: 'ab'.repeat(32),
  engine: { name: 'quickjs', version: '1', digest: '00' },
  servers: {},
  isolation: null,
}

/** At whose word runs are purged. */
export const keeper = { who: 'shepherd', from: 'cli' }

const opened = new WeakMap<TestContext, Store[]>()

/** A store that is closed with the test, in a home that goes after the last of them. */
export async function openSample(t: TestContext, options: Partial<StoreOptions> = {}): Promise<Store> {
  if (!opened.has(t)) t.after(async () => Promise.all(opened.get(t)!.map((store) => store.close())))
  const stores = opened.get(t) ?? []
  opened.set(t, stores)
  const store = await openStore({ home: options.home ?? join(temporaryFolder(t), 'home'), ...options })
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= store.close()
    return closed
  }
  stores.push({ ...store, close })
  return stores.at(-1)!
}

export function startSample(store: Store, body: Partial<EventBodies['run.started']> = {}): Chain {
  return store.startRun(newId<RunId>(), { ...sampleStart, ...body })
}

/** A finished run of `calls` calls: two events and three for each call. */
export async function finishSample(store: Store, calls = 1, value: Json = 7): Promise<RunId> {
  const chain = startSample(store)
  for (let i = 1; i <= calls; i++) {
    const call = String(i)
    chain.append('call.issued', {
      call,
      tool: 'a:b',
      args: { i },
      effect: 'read',
      effectFrom: 'default',
      definition: null,
    })
    chain.append('call.sent', { call, attempt: 1 })
    chain.append('call.resolved', { call, attempt: 1, outcome: 'answered', ok: true, value, ms: 1, by: 'upstream' })
  }
  await chain.finish({ status: 'done', result: null, callCount: calls, ms: 5 })
  return chain.run
}

type SampleEnd = Partial<EventBodies['call.resolved']>
type SampleEnds = { tool: string; ends: SampleEnd[]; logs: LogLine[]; dropped: number }

/** A closed run of calls of one tool that ended so, and of what it logged. */
export async function finishedSample(store: Store, { tool, ends, logs, dropped }: SampleEnds): Promise<RunId> {
  const chain = startSample(store)
  for (const [at, end] of ends.entries()) {
    const call = String(at + 1)
    const issued = { call, tool, args: {}, effect: 'read', effectFrom: 'default', definition: null } as const
    chain.append('call.issued', issued)
    const answer = { outcome: 'answered', ok: true, ms: 1, by: 'upstream' } as const
    chain.append('call.resolved', { call, attempt: 1, ...answer, ...(end.ok === false ? {} : { value: 1 }), ...end })
  }
  if (logs.length + dropped > 0) chain.append('run.logged', { lines: logs, dropped })
  await chain.finish({ status: 'done', result: null, callCount: ends.length, ms: 5 })
  return chain.run
}

type SampleCall = { tool: string; args: Json; value?: Json; code?: string }

/** A closed run of these calls, one after the other. */
export async function closeSample(
  store: Store,
  calls: SampleCall[],
  started: Partial<EventBodies['run.started']> = {},
  status = 'done',
) {
  const chain = startSample(store, started)
  for (const [at, { tool, args, value = null, code }] of calls.entries()) {
    const call = String(at + 1)
    const issued = { call, tool, args, effect: 'read', effectFrom: 'default', definition: null } as const
    chain.append('call.issued', issued)
    chain.append('call.sent', { call, attempt: 1 })
    const error = { code: code as 'CALL_TIMEOUT', message: 'no', context: {}, fate: 'retry' } as const
    const end = code === undefined ? { ok: true, value } : { ok: false, error }
    chain.append('call.resolved', { call, attempt: 1, outcome: 'answered', ...end, ms: 3, by: 'upstream' })
  }
  await chain.finish({ status: status as 'done', result: null, callCount: calls.length, ms: 5 })
  return chain.run
}
