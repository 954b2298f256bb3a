/** The guest's side of the bridge: calls and log lines wait here as text until the host takes the turn. */

/** What of `model/limits.ts` the guest itself must know; the host sends it. */
export type GuestLimits = {
  callsInFlightMax: number
  callArgumentsBytesMax: number
  timersMax: number
  timerMsMax: number
  logLinesMax: number
  logLineMax: number
  errorTextMax: number
}

export type Bridge = {
  call(tool: unknown, args: unknown): Promise<unknown>
  timer(ms: number, fire: () => void, fail: (error: unknown) => void): void
  log(level: string, text: string): void
  warn(what: string, thrown: unknown): void
  /** What a thrown value says of itself, whatever its getters do. */
  textOf(thrown: unknown): string
  host: {
    deliver(call: number, ok: boolean, text: string): void
    take(): string
    finish(ok: boolean, value: unknown): string
    warn(thrown: unknown): void
  }
}

/**
 * Runs inside the engine: its own text is what is evaluated there, so it may use nothing but its arguments and the
 * language. It captures what it needs before the program runs, keeps its tables in objects without a prototype and
 * writes its messages as strings, so that nothing the program overwrites can reach them.
 */
export function bridge(limits: GuestLimits): Bridge {
  const { parse, stringify } = JSON
  const { create, freeze, defineProperty } = Object
  const { apply } = Reflect
  const PromiseHere = Promise
  const StringHere = String
  const ErrorHere = Error
  const [slice, isError] = [String.prototype.slice, Error.prototype.isPrototypeOf]
  const [encode, decode] = [encodeURIComponent, unescape]
  const known = new WeakMap<object, string>()
  const [knownGet, knownSet] = [WeakMap.prototype.get, WeakMap.prototype.set]

  type Entry = { tool: string; args: string; resolve(value: unknown): void; reject(error: unknown): void }
  const open: Record<number, Entry> = create(null)
  const waiting: Record<number, Entry> = create(null)
  let [issued, inFlight, timers, waitingFirst, waitingEnd] = [0, 0, 0, 0, 0]
  let [calls, logs, logLines] = ['', '', 0]

  const cut = (text: string, max: number): string =>
    text.length <= max ? text : `${apply(slice, text, [0, max])}… (${text.length} characters)`
  const bytesOf = (text: string): number => decode(encode(text)).length

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

  /** An error that came over the bridge; what it said is remembered, so that it ends the program unchanged. */
  function toolError(tool: string, data: string): unknown {
    try {
      const { code, message, context } = parse(data)
      const error = new ToolError(code, message, tool, context)
      apply(knownSet, known, [error, `{"tool":${stringify(tool)},"data":${data}}`])
      return error
    } catch (thrown) {
      return thrown
    }
  }

  function refuse(tool: unknown, details: string): Promise<never> {
    const id = typeof tool === 'string' ? tool : typeof tool
    const message = `Cannot call "${cut(id, 200)}": ${details}`
    const data = { code: 'INVALID_INPUT_PARAM', message, context: { param: 'args', details } }
    return new PromiseHere((_, reject) => reject(toolError(id, stringify(data))))
  }

  function issue(entry: Entry): void {
    issued += 1
    open[issued] = entry
    calls += `${calls === '' ? '' : ','}[${stringify(entry.tool)},${stringify(entry.args)}]`
  }

  /** The bound on open calls holds back, it does not refuse: a call beyond it is issued when a place is free. */
  function enter(entry: Entry): void {
    if (inFlight < limits.callsInFlightMax) {
      inFlight += 1
      issue(entry)
    } else {
      waiting[waitingEnd] = entry
      waitingEnd += 1
    }
  }

  function leave(): void {
    inFlight -= 1
    if (waitingFirst === waitingEnd) return
    const entry = waiting[waitingFirst]!
    delete waiting[waitingFirst]
    waitingFirst += 1
    inFlight += 1
    issue(entry)
  }

  function call(tool: unknown, args: unknown): Promise<unknown> {
    if (typeof tool !== 'string') return refuse(tool, 'the tool is named by a string, "server:name"')
    if (tool === 'metier:timer') return refuse(tool, 'a timer is set with sleep() or setTimeout()')
    let text: string | undefined
    try {
      text = stringify(args === undefined ? {} : args)
    } catch (thrown) {
      return refuse(tool, `the arguments are no JSON: ${textOf(thrown)}`)
    }
    if (text === undefined) return refuse(tool, `the arguments are no JSON: ${typeof args}`)
    const max = limits.callArgumentsBytesMax
    if (text.length > max || (text.length * 3 > max && bytesOf(text) > max)) {
      return refuse(tool, `the arguments are longer than ${max} bytes`)
    }
    return new PromiseHere((resolve, reject) => enter({ tool, args: text, resolve, reject }))
  }

  function timer(ms: number, fire: () => void, fail: (error: unknown) => void): void {
    if (!(ms <= limits.timerMsMax)) throw new RangeError(`a timer waits at most ${limits.timerMsMax} ms`)
    if (timers >= limits.timersMax) throw new RangeError(`at most ${limits.timersMax} timers are open at a time`)
    timers += 1
    issue({ tool: 'metier:timer', args: `{"ms":${ms}}`, resolve: fire, reject: fail })
  }

  function deliver(call: number, ok: boolean, text: string): void {
    const entry = open[call]
    if (entry === undefined) return
    delete open[call]
    const isTimer = entry.tool === 'metier:timer'
    if (isTimer) timers -= 1
    else leave()
    if (!ok) entry.reject(toolError(entry.tool, text))
    else entry.resolve(isTimer ? undefined : parse(text))
  }

  function log(level: string, text: string): void {
    logLines += 1
    if (logLines > limits.logLinesMax) return
    const full = logLines === limits.logLinesMax
    const line = full ? `(further lines are dropped: a program logs at most ${limits.logLinesMax})` : text
    const shownAs = full ? 'warn' : level
    logs += `${logs === '' ? '' : ','}["${shownAs}",${stringify(cut(line, limits.logLineMax))}]`
  }

  function textOf(thrown: unknown): string {
    try {
      if (!apply(isError, ErrorHere.prototype, [thrown])) return cut(StringHere(thrown), limits.errorTextMax)
      const { name, message } = thrown as Error
      return cut(`${StringHere(name)}: ${StringHere(message)}`, limits.errorTextMax)
    } catch {
      return 'a value that cannot be shown'
    }
  }

  function warn(what: string, thrown: unknown): void {
    log('warn', `${what}: ${textOf(thrown)}`)
  }

  /** Why the program is over, as the host writes it into the last turn. */
  function finish(ok: boolean, value: unknown): string {
    if (waitingFirst < waitingEnd) {
      log('warn', `${waitingEnd - waitingFirst} calls were never made: the program ended while they waited`)
    }
    if (!ok) return failure(value)
    try {
      return `{"ok":true,"value":${stringify(stringify(value) ?? 'null')}}`
    } catch (thrown) {
      return `{"ok":false,"unsayable":${stringify(textOf(thrown))}}`
    }
  }

  function failure(thrown: unknown): string {
    const isObject = (typeof thrown === 'object' && thrown !== null) || typeof thrown === 'function'
    const error = isObject ? apply(knownGet, known, [thrown]) : undefined
    if (error !== undefined) return `{"ok":false,"error":${error}}`
    let stack = ''
    try {
      stack = StringHere((thrown as Error).stack)
    } catch {
      // A value without a readable stack has none to show.
    }
    return `{"ok":false,"thrown":${stringify(textOf(thrown))},"stack":${stringify(cut(stack, limits.errorTextMax))}}`
  }

  function take(): string {
    const turn = `{"calls":[${calls}],"logs":[${logs}]`
    calls = ''
    logs = ''
    return turn
  }

  const host = { deliver, take, finish, warn: (thrown: unknown) => warn('Nobody handled a rejection', thrown) }
  return { call, timer, log, warn, textOf, host }
}
