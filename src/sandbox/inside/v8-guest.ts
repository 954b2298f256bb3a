/**
 * What a bare V8 lacks that the other engine has: a clock that stands still, `structuredClone`,
 * `queueMicrotask`, and the prelude around them.
 */
import { prelude } from './guest.ts'
import type { GuestLimits } from './guest-log.ts'
import { texts } from './v8-guest-text.ts'

/** Present in V8 alone, taken away before the prelude takes away the rest. */
const removedHere = ['WebAssembly', 'Intl', 'console'] as const

/**
 * Runs inside the engine. `Date` without arguments is the time that was set, and no other way leads
 * to the real clock.
 */
function clock(): (now: number) => void {
  const { defineProperty, getOwnPropertyDescriptors, defineProperties } = Object
  const { apply, construct } = Reflect
  const Real = Date
  const { toString: shown } = Real.prototype
  let time = 0
  function DateHere(this: unknown, ...values: unknown[]): unknown {
    if (new.target === undefined) return apply(shown, new Real(time), [])
    return construct(Real, values.length === 0 ? [time] : values, new.target)
  }
  const { parse, UTC } = getOwnPropertyDescriptors(Real)
  const now = { value: () => time, writable: true, enumerable: false, configurable: true }
  defineProperties(DateHere, { parse, UTC, now } as PropertyDescriptorMap)
  defineProperty(DateHere, 'prototype', { value: Real.prototype, writable: false })
  defineProperty(DateHere, 'name', { value: 'Date', configurable: true })
  defineProperty(DateHere, 'length', { value: 7, configurable: true })
  defineProperty(Real.prototype, 'constructor', { value: DateHere, writable: true, configurable: true })
  defineProperty(globalThis, 'Date', { value: DateHere, writable: true, configurable: true })
  return (at) => {
    time = at
  }
}

/** Runs inside the engine. */
function builtIns(): void {
  const { create, defineProperty, getPrototypeOf, keys, prototype: plain } = Object
  const { apply, construct } = Reflect
  const [resolved, then] = [Promise.resolve(), Promise.prototype.then]
  const isView = ArrayBuffer.isView
  const kindOf = plain.toString
  const globals = globalThis as Record<string, unknown>
  const show = (name: string, value: unknown) =>
    defineProperty(globals, name, { value, writable: true, configurable: true })

  show('queueMicrotask', (act: unknown): void => {
    if (typeof act !== 'function') throw new TypeError('queueMicrotask() takes a function')
    apply(then, resolved, [() => void apply(act, undefined, [])])
  })

  const cannot = (what: unknown) => {
    const error = new Error(`${typeof what} could not be cloned`)
    error.name = 'DataCloneError'
    return error
  }
  const errors: Record<string, ErrorConstructor> = create(null)
  for (const one of [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError])
    errors[one.name] = one

  type Seen = Map<object, unknown>
  const copies: Record<string, (value: never, seen: Seen) => unknown> = create(null)
  copies['[object Date]'] = (value: Date) => new Date(value.getTime())
  copies['[object RegExp]'] = (value: RegExp) => new RegExp(value.source, value.flags)
  for (const kind of ['Boolean', 'Number', 'String', 'BigInt']) {
    copies[`[object ${kind}]`] = (value: object) => globalOf(value.valueOf())
  }
  copies['[object ArrayBuffer]'] = (value: ArrayBuffer) => value.slice(0)
  copies['[object Map]'] = (value: Map<unknown, unknown>, seen) => {
    const copy = remember(seen, value, new Map())
    for (const [key, one] of value) copy.set(clone(key, seen), clone(one, seen))
    return copy
  }
  copies['[object Set]'] = (value: Set<unknown>, seen) => {
    const copy = remember(seen, value, new Set())
    for (const one of value) copy.add(clone(one, seen))
    return copy
  }
  copies['[object Array]'] = (value: unknown[], seen) =>
    fill(value, remember(seen, value, new Array(value.length)), seen)
  copies['[object Object]'] = (value: object, seen) => fill(value, remember(seen, value, {}), seen)
  copies['[object Error]'] = (value: Error, seen) => {
    const copy = remember(seen, value, new (errors[value.name] ?? Error)(value.message))
    defineProperty(copy, 'stack', { value: value.stack, writable: true, configurable: true })
    return copy
  }

  function globalOf(value: unknown): unknown {
    return new Object(value)
  }
  function remember<Copy extends object>(seen: Seen, value: object, copy: Copy): Copy {
    seen.set(value, copy)
    return copy
  }
  function fill(from: object, to: object, seen: Seen): object {
    for (const key of keys(from)) {
      const value = clone((from as Record<string, unknown>)[key], seen)
      defineProperty(to, key, { value, writable: true, enumerable: true, configurable: true })
    }
    return to
  }
  function clone(value: unknown, seen: Seen): unknown {
    if (typeof value === 'function' || typeof value === 'symbol') throw cannot(value)
    if (typeof value !== 'object' || value === null) return value
    if (seen.has(value)) return seen.get(value)
    if (isView(value)) return view(value, seen)
    const copy = copies[apply(kindOf, value, [])]
    if (copy === undefined) throw cannot(value)
    return copy(value as never, seen)
  }
  function view(value: ArrayBufferView, seen: Seen): unknown {
    const { buffer, byteOffset } = value
    const length = 'length' in value ? value.length : value.byteLength
    const copy: object = construct(getPrototypeOf(value).constructor, [clone(buffer, seen), byteOffset, length])
    return remember(seen, value, copy)
  }
  show('structuredClone', (value: unknown) => clone(value, new Map()))
}

/**
 * An expression whose value is what the host keeps: how a program starts, how a result is
 * delivered, and how a turn is taken. It is given one function of the host, which turns text into
 * text.
 */
export function v8Prelude(limits: GuestLimits): string {
  return `((ask) => {
'use strict'
for (const name of ${JSON.stringify(removedHere)}) delete globalThis[name]
const setClock = (${clock})()
;(${builtIns})()
;(${texts})(ask)
const host = ${prelude(limits)}
// V8 asks for it whenever a stack is read: it would be handed the frames.
Object.defineProperty(Error, 'prepareStackTrace', { get() {}, set() {}, configurable: false })
const { trace, begin, deliver, take, finish } = host
const { defineProperty, assign, create } = Object
const native = assign(create(null), { value: Promise })
let settled = null
let end = null
const watch = async (main) => {
  try {
    settled = { ok: true, value: await main }
  } catch (thrown) {
    settled = { ok: false, value: thrown }
  }
}
return {
  start(program, args, a, b, c, d, isTraced, now) {
    setClock(now)
    if (isTraced) trace()
    begin(args, a, b, c, d)
    const main = program()
    // Its own word for what made it: else the program could put its own way of waiting in between.
    defineProperty(main, 'constructor', native)
    watch(main)
  },
  deliver(call, ok, text, now) {
    setClock(now)
    deliver(call, ok, text)
  },
  /**
   * Puts the end into words, where there is one; what that sets off is drained before the turn is
   * taken.
   */
  conclude() {
    if (settled !== null) end = finish(settled.ok, settled.value)
  },
  take: () => (end === null ? '.' + take() + '}' : '!' + take() + ',"end":' + end + '}'),
}
})`
}
