/** What a program sees of the world: `mcp`, `tool`, `cap`, `console`, `sleep` and the timers. */
// biome-ignore-all lint/style/useTemplate: the engine makes a template literal a call of a method that the program may overwrite.
import type { Bridge } from './guest-bridge.ts'
import type { GuestLog } from './guest-log.ts'

/** Runs inside the engine; see `bridge()` for what that allows. */
export function surface({ call, timer }: Bridge, { log, warn, textOf }: GuestLog): void {
  const { stringify } = JSON
  const { assign, create, freeze, defineProperty } = Object
  const { apply } = Reflect
  const [NumberHere, PromiseHere, ProxyHere, TypeErrorHere] = [Number, Promise, Proxy, TypeError]
  const [hasInChain, errorPrototype] = [Object.prototype.isPrototypeOf, Error.prototype]
  const { floor, max } = Math

  const show = (name: string, value: unknown): void => {
    defineProperty(globalThis, name, { value, writable: false, configurable: false, enumerable: false })
  }

  const get = (answer: (name: string) => unknown) => (_: object, name: unknown) =>
    typeof name !== 'string' || name === 'then' || name === 'toJSON' ? undefined : answer(name)
  /**
   * Looks like an empty object that cannot be changed, and answers every name but those that the
   * language asks for by itself.
   */
  const names = (answer: (name: string) => unknown): object =>
    new ProxyHere(freeze(create(null)), freeze(assign(create(null), { get: get(answer) })))

  show(
    'mcp',
    names((server) => names((name) => (args: unknown) => call(server + ':' + name, args))),
  )
  show(
    'cap',
    names((name) => (args: unknown) => call('cap:' + name, args)),
  )
  show('tool', (id: unknown, args: unknown) => call(id, args))

  function shown(value: unknown): string {
    if (typeof value === 'string') return value
    try {
      const plain = typeof value === 'object' && value !== null && !apply(hasInChain, errorPrototype, [value])
      return (plain ? stringify(value) : undefined) ?? textOf(value)
    } catch {
      return textOf(value)
    }
  }
  const written =
    (level: string) =>
    (...values: unknown[]) => {
      let text = ''
      for (let i = 0; i < values.length; i += 1) text += (i === 0 ? '' : ' ') + shown(values[i])
      log(level, text)
    }
  const log_ = written('log')
  const error = written('error')
  const assert = (truth: unknown, ...values: unknown[]) => {
    if (!truth) apply(error, undefined, ['Assertion failed', ...values])
  }
  const console = { log: log_, info: written('info'), warn: written('warn'), error, debug: written('debug') }
  show('console', { ...console, trace: console.debug, dir: log_, table: log_, assert })

  const milliseconds = (ms: unknown): number => max(0, floor(NumberHere(ms)) || 0)
  show('sleep', (ms: unknown) => new PromiseHere<void>((resolve, reject) => timer(milliseconds(ms), resolve, reject)))

  const live: Record<number, true> = create(null)
  let last = 0
  function set(again: boolean, callback: unknown, ms: unknown, values: unknown[]): number {
    if (typeof callback !== 'function') throw new TypeErrorHere('a timer calls a function')
    last += 1
    const id = last
    const due = milliseconds(ms)
    const fire = () => {
      if (live[id] === undefined) return
      if (!again) delete live[id]
      try {
        apply(callback, undefined, values)
      } catch (thrown) {
        warn('A timer threw', thrown)
      }
      if (live[id] !== undefined) timer(due, fire, fail)
    }
    const fail = () => {
      delete live[id]
    }
    timer(due, fire, fail)
    live[id] = true
    return id
  }
  const clear = (id: unknown): void => {
    if (typeof id === 'number') delete live[id]
  }
  show('setTimeout', (callback: unknown, ms: unknown, ...values: unknown[]) => set(false, callback, ms, values))
  show('setInterval', (callback: unknown, ms: unknown, ...values: unknown[]) => set(true, callback, ms, values))
  show('clearTimeout', clear)
  show('clearInterval', clear)
}
