/**
 * One program in one isolate of V8: the same turns as in the other engine, bounded by time instead
 * of ticks.
 */
import { createRequire } from 'node:module'
import { programFile } from './guest.ts'
import type { GuestLimits } from './guest-log.ts'
import { emptyTurn, type Machine, type MachineLimits } from './machine.ts'
import { v8Prelude } from './v8-guest.ts'
import { answerText } from './v8-text.ts'

/** The part of isolated-vm that is used here. */
type Reference = {
  applySync(
    receiver: undefined,
    values: unknown[],
    options: { timeout?: number; result?: { reference: true } },
  ): unknown
  getSync(name: string, options: { reference: true }): Reference
  derefInto(): unknown
}
type Context = { evalSync(text: string, options: object): Reference }
type Isolate = {
  readonly isDisposed: boolean
  createContextSync(): Context
  dispose(): void
}
type IsolatedVm = {
  Isolate: new (options: { memoryLimit: number }) => Isolate
  Callback: new (act: (...values: unknown[]) => unknown) => unknown
}

/** V8 has no ticks; a tick of the other engine takes about this long. */
const tickMs = 0.5
const megabyte = 1024 * 1024
/** What a turn begins with when the program is over. */
const ended = '!'

/** The addon from where the box shows it; nothing else of the package is needed. */
export function loadIsolatedVm(file: string): IsolatedVm {
  return (createRequire(import.meta.url)(file) as { ivm: IsolatedVm }).ivm
}

export function createV8Machine(ivm: IsolatedVm, guest: GuestLimits, limits: MachineLimits): Machine {
  const timeout = Math.ceil(limits.ticksPerTurnMax * tickMs)
  const isolate = new ivm.Isolate({ memoryLimit: Math.max(8, Math.floor(limits.memoryBytesMax / megabyte)) })
  const context = isolate.createContextSync()
  const prelude = context.evalSync(v8Prelude(guest), { filename: 'metier', reference: true })
  const host = prelude.applySync(undefined, [new ivm.Callback(answerText)], {
    result: { reference: true },
  }) as Reference
  const [start, deliver, conclude, take] = ['start', 'deliver', 'conclude', 'take'].map((name) =>
    host.getSync(name, { reference: true }),
  ) as [Reference, Reference, Reference, Reference]
  let over = false
  let until = 0

  /**
   * An unhandled rejection is thrown here after the work was done: it ends nothing, and is not
   * reported.
   */
  function call(target: Reference, ...values: unknown[]): unknown {
    try {
      return target.applySync(undefined, values, { timeout: Math.max(1, Math.ceil(until - performance.now())) })
    } catch {
      if (isolate.isDisposed) throw new LimitMet('memory')
      if (performance.now() >= until) throw new LimitMet('time')
      return undefined
    }
  }

  function turn(act: () => void): string {
    if (over) return emptyTurn
    until = performance.now() + timeout
    try {
      act()
      call(conclude)
      const taken = String(call(take))
      over = taken.startsWith(ended)
      return taken.slice(1)
    } catch (thrown) {
      over = true
      return `{"calls":[],"logs":[],"end":${JSON.stringify(fatalEnd(thrown))}}`
    }
  }

  return {
    get over() {
      return over
    },
    start: async ({ source, args, chance, now, isTraced }) =>
      turn(() => {
        const program = context.evalSync(source, { filename: programFile, reference: true, timeout })
        call(start, program.derefInto(), args, ...chance, isTraced, now)
      }),
    deliver: async ({ call: number, ok, text, now }) => turn(() => call(deliver, number, ok, text, now)),
    reset() {
      if (!isolate.isDisposed) isolate.dispose()
      return false
    },
  }
}

/** A bound was met: nothing of the guest runs after it. */
class LimitMet extends Error {
  limit: 'memory' | 'time'
  constructor(limit: 'memory' | 'time') {
    super(limit)
    this.limit = limit
  }
}

function fatalEnd(thrown: unknown): Record<string, unknown> {
  if (thrown instanceof LimitMet) return { ok: false, limit: thrown.limit }
  const { name, message } = thrown as Error
  return { ok: false, broken: `${name}: ${message}` }
}
