/** The text that is evaluated in the engine before any program: the prelude. */
import { bridge } from './guest-bridge.ts'
import { chance } from './guest-chance.ts'
import { type GuestLimits, guestLog } from './guest-log.ts'
import { surface } from './guest-surface.ts'
import { guestTrace } from './guest-trace.ts'
import { urls } from './guest-url.ts'

/**
 * Present in the engine, taken away: each could observe the collector, another thread or real time.
 */
export const removed = ['WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics', 'performance'] as const

/** Not there, and not supplied: said in the description of the code surface. */
export const absent = [
  'fetch',
  'Intl',
  'WebAssembly',
  'process',
  'require',
  'Buffer',
  'crypto.subtle',
  'import',
] as const

export const preludeFile = 'metier'
export const programFile = 'program'

/**
 * An expression whose value the host keeps: `trace`, `begin`, `deliver`, `take`, `finish` and
 * `warn`. The program never sees it.
 */
export function prelude(limits: GuestLimits): string {
  return `(() => {
'use strict'
for (const name of ${JSON.stringify(removed)}) delete globalThis[name]
delete Error.prepareStackTrace
const limits = ${JSON.stringify(limits)}
const log = (${guestLog})(limits)
const bridge = (${bridge})(limits, log)
const trace = (${guestTrace})(limits)
const seed = (${chance})()
;(${surface})(bridge, log)
;(${urls})()
const { parse } = JSON
const { defineProperty, assign, create } = Object
const begin = (args, a, b, c, d) => {
  seed(a, b, c, d)
  defineProperty(globalThis, 'args', { value: parse(args), writable: true, configurable: true, enumerable: false })
}
const take = () => bridge.host.take() + trace.take()
return assign(create(null), bridge.host, { trace: trace.begin, begin, take })
})()`
}
