/**
 * The guest's log: lines wait here as text until the host takes the turn, and thrown values are put
 * into words.
 */
// biome-ignore-all lint/style/useTemplate: the engine makes a template literal a call of a method that the program may overwrite.

/** What of `model/limits/limits.ts` the guest itself must know; the host sends it. */
export type GuestLimits = {
  callsInFlightMax: number
  callsWaitingMax: number
  callArgumentsBytesMax: number
  toolIdMax: number
  timersMax: number
  timerMsMax: number
  logLinesMax: number
  logLineMax: number
  errorTextMax: number
  /** Names of pure operations, by what they belong to, and how many are noted in a turn. */
  operations: Record<string, string[]>
  operationsMax: number
}

export type GuestLog = {
  log(level: string, text: string): void
  warn(what: string, thrown: unknown): void
  /** What a value says of itself, whatever its getters do. */
  textOf(value: unknown): string
  cut(text: string, max: number): string
  take(): string
}

/** Runs inside the engine; see `bridge()` for what that allows. */
export function guestLog(limits: GuestLimits): GuestLog {
  const { stringify } = JSON
  const { apply } = Reflect
  const StringHere = String
  const [slice, hasInChain, errorPrototype] = [String.prototype.slice, Object.prototype.isPrototypeOf, Error.prototype]
  let [lines, count] = ['', 0]

  function cut(text: string, max: number): string {
    return text.length <= max ? text : apply(slice, text, [0, max]) + '… (' + text.length + ' characters)'
  }

  function log(level: string, text: string): void {
    count += 1
    if (count > limits.logLinesMax) return
    const isLast = count === limits.logLinesMax
    const said = isLast ? '(further lines are dropped: a program logs at most ' + count + ')' : text
    const line = '["' + (isLast ? 'warn' : level) + '",' + stringify(cut(said, limits.logLineMax)) + ']'
    lines = lines === '' ? line : lines + ',' + line
  }

  function textOf(value: unknown): string {
    try {
      if (!apply(hasInChain, errorPrototype, [value])) return cut(StringHere(value), limits.errorTextMax)
      const { name, message } = value as Error
      return cut(StringHere(name) + ': ' + StringHere(message), limits.errorTextMax)
    } catch {
      return 'a value that cannot be shown'
    }
  }

  const warn = (what: string, thrown: unknown): void => log('warn', what + ': ' + textOf(thrown))

  function take(): string {
    const taken = lines
    lines = ''
    return taken
  }

  return { log, warn, textOf, cut, take }
}
