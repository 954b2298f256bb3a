/**
 * The guest's side of the bridge: calls wait here as text until the host takes the turn, and
 * results find their promises.
 */
// biome-ignore-all lint/style/useTemplate: the engine makes a template literal a call of a method that the program may overwrite.
import type { GuestLimits, GuestLog } from './guest-log.ts'

export type Bridge = {
  call(tool: unknown, args: unknown): Promise<unknown>
  timer(ms: number, fire: () => void, fail: (error: unknown) => void): void
  host: {
    deliver(call: number, ok: boolean, text: string): void
    /** The turn so far, as an object whose last brace is the host's to write. */
    take(): string
    /** Why the program is over, as a whole object. */
    finish(ok: boolean, value: unknown): string
    warn(thrown: unknown): void
  }
}

/**
 * Runs inside the engine: its own text is what is evaluated there, so it may use nothing but its
 * arguments and the language. What it needs is captured before the program runs, its tables have no
 * prototype, and its messages are strings put together with `+` (a template literal would ask for
 * `String.prototype.concat`), so that nothing that the program overwrites reaches them. Text is
 * made before state is changed: `stringify` may run code of the program.
 */
export function bridge(limits: GuestLimits, { warn, textOf, cut, take: takeLogs }: GuestLog): Bridge {
  const { parse, stringify } = JSON
  const { create, freeze, defineProperty } = Object
  const { apply } = Reflect
  const [PromiseHere, StringHere, ErrorHere, RangeErrorHere] = [Promise, String, Error, RangeError]
  const [encode, decode] = [encodeURIComponent, unescape]
  const known = new WeakMap<object, string>()
  const [knownGet, knownSet] = [WeakMap.prototype.get, WeakMap.prototype.set]

  type Settle = { resolve(value: unknown): void; reject(error: unknown): void }
  type Entry = Settle & { tool: string; args: string; refused: string; isTimer: boolean }
  const open: Record<number, Entry> = create(null)
  const waiting: Record<number, Entry> = create(null)
  let [issued, inFlight, timers, waitingFirst, waitingEnd] = [0, 0, 0, 0, 0]
  let calls = ''

  /** Its fields are defined, not assigned: no setter of the program's can stand in between. */
  class ToolError extends ErrorHere {
    override name = 'ToolError'
    code: string
    tool: string
    context: unknown
    constructor(code: string, message: string, tool: string, context: unknown) {
      super(message)
      this.code = code
      this.tool = tool
      this.context = context
    }
  }
  freeze(ToolError)
  freeze(ToolError.prototype)
  defineProperty(globalThis, 'ToolError', { value: ToolError, writable: true, configurable: true })

  /**
   * An error that came over the bridge; what it said is remembered, so that it ends the program
   * unchanged.
   */
  function toolError(tool: string, data: string): unknown {
    try {
      const { code, message, context } = parse(data)
      const error = new ToolError(code, message, tool, context)
      apply(knownSet, known, [error, '{"tool":' + stringify(tool) + ',"data":' + data + '}'])
      return error
    } catch (thrown) {
      return thrown
    }
  }

  /**
   * What cannot be said as it is goes to the host without its arguments: a call that is refused is
   * on the record, too.
   */
  function refuse(tool: unknown, details: string): Promise<unknown> {
    const id = cut(typeof tool === 'string' ? tool : typeof tool, 200)
    return entered(id, 'null', cut(details, limits.errorTextMax))
  }

  function issue(entry: Entry): void {
    const why = entry.refused === '' ? '' : ',' + stringify(entry.refused)
    const call = '[' + stringify(entry.tool) + ',' + stringify(entry.args) + why + ']'
    calls = calls === '' ? call : calls + ',' + call
    issued += 1
    open[issued] = entry
  }

  /**
   * The bound on open calls holds back, it does not refuse: a call beyond it is issued when a place
   * is free.
   */
  function enter(entry: Entry): void {
    if (inFlight < limits.callsInFlightMax) {
      inFlight += 1
      issue(entry)
    } else {
      waiting[waitingEnd] = entry
      waitingEnd += 1
    }
  }

  function issueNext(): void {
    const entry = waiting[waitingFirst]!
    delete waiting[waitingFirst]
    waitingFirst += 1
    issue(entry)
  }

  function leave(): void {
    if (waitingFirst < waitingEnd) issueNext()
    else inFlight -= 1
  }

  /** Beyond what may wait there is no place for another call, nor for the record of it. */
  function entered(tool: string, args: string, refused: string): Promise<unknown> {
    return new PromiseHere((resolve, reject) => {
      if (waitingEnd - waitingFirst < limits.callsWaitingMax)
        return enter({ tool, args, refused, isTimer: false, resolve, reject })
      const details = limits.callsWaitingMax + ' calls wait for a free place already; await some of them first'
      const said = stringify('Cannot call "' + tool + '": ' + details)
      const context = '{"param":"args","details":' + stringify(details) + '}'
      reject(toolError(tool, '{"code":"INVALID_INPUT_PARAM","message":' + said + ',"context":' + context + '}'))
    })
  }

  function call(tool: unknown, args: unknown): Promise<unknown> {
    if (typeof tool !== 'string') return refuse(tool, 'the tool is named by a string, "server:name"')
    if (tool.length > limits.toolIdMax)
      return refuse(tool, 'its name is longer than ' + limits.toolIdMax + ' characters')
    if (tool === 'metier:timer') return refuse(tool, 'a timer is set with sleep() or setTimeout()')
    let text: string | undefined
    try {
      text = stringify(args === undefined ? {} : args)
    } catch (thrown) {
      return refuse(tool, 'the arguments are no JSON: ' + textOf(thrown))
    }
    if (text === undefined) return refuse(tool, 'the arguments are no JSON: ' + typeof args)
    const max = limits.callArgumentsBytesMax
    if (text.length > max || (text.length * 3 > max && decode(encode(text)).length > max)) {
      return refuse(tool, 'the arguments are longer than ' + max + ' bytes')
    }
    return entered(tool, text, '')
  }

  function timer(ms: number, fire: () => void, fail: (error: unknown) => void): void {
    if (!(ms <= limits.timerMsMax)) throw new RangeErrorHere('a timer waits at most ' + limits.timerMsMax + ' ms')
    if (timers >= limits.timersMax)
      throw new RangeErrorHere('at most ' + limits.timersMax + ' timers are open at a time')
    timers += 1
    const args = '{"ms":' + ms + '}'
    issue({ tool: 'metier:timer', args, refused: '', isTimer: true, resolve: fire, reject: fail })
  }

  function deliver(call: number, ok: boolean, text: string): void {
    const entry = open[call]
    if (entry === undefined) return
    delete open[call]
    if (entry.isTimer) timers -= 1
    else leave()
    if (!ok) entry.reject(toolError(entry.tool, text))
    else if (entry.isTimer) entry.resolve(undefined)
    else settle(entry, text)
  }

  function settle({ resolve, reject }: Entry, text: string): void {
    let value: unknown
    try {
      value = parse(text)
    } catch (thrown) {
      return reject(thrown)
    }
    resolve(value)
  }

  /**
   * A call that was never awaited is a call: what still waits for a place is issued as the program
   * ends.
   */
  function finish(ok: boolean, value: unknown): string {
    while (waitingFirst < waitingEnd) issueNext()
    if (!ok) return failure(value)
    try {
      return '{"ok":true,"value":' + stringify(stringify(value) ?? 'null') + '}'
    } catch (thrown) {
      return '{"ok":false,"unsayable":' + stringify(textOf(thrown)) + '}'
    }
  }

  function failure(thrown: unknown): string {
    const isObject = (typeof thrown === 'object' && thrown !== null) || typeof thrown === 'function'
    const error = isObject ? apply(knownGet, known, [thrown]) : undefined
    if (error !== undefined) return '{"ok":false,"error":' + error + '}'
    let stack = ''
    try {
      stack = StringHere((thrown as Error).stack)
    } catch {
      // A value without a readable stack has none to show.
    }
    const shown = stringify(cut(stack, limits.errorTextMax))
    return '{"ok":false,"thrown":' + stringify(textOf(thrown)) + ',"stack":' + shown + '}'
  }

  function take(): string {
    const turn = '{"calls":[' + calls + '],"logs":[' + takeLogs() + ']'
    calls = ''
    return turn
  }

  return { call, timer, host: { deliver, take, finish, warn: (thrown) => warn('Nobody handled a rejection', thrown) } }
}
