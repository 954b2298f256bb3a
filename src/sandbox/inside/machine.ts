/**
 * One program in one engine: a turn is one delivery, every pending job, and then one line of text
 * for the parent.
 */
import { type ExtensionDescriptor, Intrinsics, JSException, type JSValueHandle, QuickJS } from 'quickjs-wasi'
import { type Engine, type EngineLimit, limitOfTrap } from './engine.ts'
import { preludeFile, programFile } from './guest.ts'
import { keepPristine } from './pristine.ts'

export type MachineLimits = { memoryBytesMax: number; stackBytesMax: number; ticksPerTurnMax: number }
export type MachineParts = {
  engine: Engine
  module: WebAssembly.Module
  extensions: ExtensionDescriptor[]
  /** Free memory to begin with. */
  roomBytes: number
  /** Compiled by `compilePrelude()` in this process: bytecode from elsewhere is never loaded. */
  prelude: Uint8Array
  /**
   * Called at every tick of the engine: the only moments in which a busy engine lets the host act.
   */
  onTick(): void
}
export type StartMessage = {
  source: string
  args: string
  chance: number[]
  now: number
  limits: MachineLimits
  /** Whether pure operations are noted. */
  isTraced: boolean
}
export type DeliverMessage = { call: number; ok: boolean; text: string; now: number }

export type Machine = {
  start(message: StartMessage): Promise<string>
  deliver(message: DeliverMessage): Promise<string>
  readonly over: boolean
  /**
   * Ends its program, if need be. True: it is as it was made, ready for another; false: nothing may
   * be asked of it any more.
   */
  reset(): boolean
}

/** Thrown by the host inside the engine: it unwinds through it, so that no guest code sees it. */
class TicksSpent extends Error {}

/** A rejection beyond these is not remembered: the warnings about it are bounded, too. */
const rejectionsMax = 100

/** What a delivery after the end brings about. */
export const emptyTurn = '{"calls":[],"logs":[]}'

const intrinsics = (Intrinsics.ALL & ~(Intrinsics.WEAK_REF | Intrinsics.PERFORMANCE)) >>> 0

/**
 * An engine with the prelude in it, ready for one program after another that want these limits, and
 * to be traced or not.
 */
export async function createMachine(parts: MachineParts, limits: MachineLimits, isTraced: boolean): Promise<Machine> {
  const { engine, module, extensions, roomBytes, prelude, onTick } = parts
  let now = 0
  let ticks = 0
  let over = false
  let broken = false
  let main: JSValueHandle | null = null
  const rejections = new Map<number, { promise: JSValueHandle; reason: JSValueHandle }>()

  const vm = await QuickJS.create({
    wasm: module,
    extensions,
    intrinsics,
    memoryLimit: limits.memoryBytesMax,
    maxStackSize: limits.stackBytesMax,
    timezoneOffset: 0,
    wasi: (memory) => wasiOf(memory, () => now),
    interruptHandler: () => {
      ticks += 1
      onTick()
      if (ticks > limits.ticksPerTurnMax) throw new TicksSpent()
      return false
    },
    onUnhandledRejection: (promise, reason, handled) => {
      if (handled) forget(promise.identity)
      else if (rejections.size < rejectionsMax) {
        rejections.set(promise.identity, { promise: promise.dup(), reason: reason.dup() })
      }
    },
  })
  const { undefined: nothing, true: yes, false: no } = vm
  const host = vm.evalBytecode(prelude)
  const [trace, begin, settle, take, finish, warn] = ['trace', 'begin', 'deliver', 'take', 'finish', 'warn'].map(
    (name) => host.getProp(name),
  ) as [JSValueHandle, JSValueHandle, JSValueHandle, JSValueHandle, JSValueHandle, JSValueHandle]
  if (isTraced) call(trace).dispose()
  const { wasm_malloc: allocate, wasm_free: free } = vm._getExports()
  free(allocate(roomBytes))
  // All that stays was made before: it stands in the copy.
  const restore = keepPristine(vm)

  function forget(identity: number): void {
    const rejection = rejections.get(identity)
    rejections.delete(identity)
    rejection?.promise.dispose()
    rejection?.reason.dispose()
  }

  /** Calls into the guest and frees what was handed over. */
  function call(target: JSValueHandle, ...values: (string | number | boolean | JSValueHandle)[]): JSValueHandle {
    const handles = values.map((value) => {
      if (typeof value === 'string') return vm.newString(value)
      if (typeof value === 'number') return vm.newNumber(value)
      return typeof value === 'boolean' ? (value ? yes : no) : value
    })
    const result = vm.callFunction(target, nothing, ...handles)
    for (const handle of handles) handle.dispose()
    return result
  }

  async function turn(at: number, act: () => void): Promise<string> {
    if (over) return emptyTurn
    now = at
    ticks = 0
    try {
      act()
      vm.executePendingJobs()
      return await report()
    } catch (thrown) {
      over = true
      broken = true
      return `{"calls":[],"logs":[],"end":${JSON.stringify(fatalEnd(thrown))}}`
    }
  }

  async function report(): Promise<string> {
    const end = await endOf()
    for (const [identity, { reason }] of rejections) {
      if (identity !== main?.identity) call(warn, reason.dup()).dispose()
      forget(identity)
    }
    vm.executePendingJobs()
    const taken = call(take).consume((text) => text.toString())
    return end === null ? `${taken}}` : `${taken},"end":${end}}`
  }

  async function endOf(): Promise<string | null> {
    if (main === null || main.promiseState === 0) return null
    over = true
    const settled = await vm.resolvePromise(main)
    const ok = 'value' in settled
    return call(finish, ok, ok ? settled.value : settled.error).consume((text) => text.toString())
  }

  /**
   * What ended the engine itself, or a text that it cannot read; what a running program throws is
   * its promise's.
   */
  function fatalEnd(thrown: unknown): Record<string, unknown> {
    const limit = limitOf(thrown)
    if (limit !== null) return { ok: false, limit }
    const { name, message, stack } = thrown as Error
    if (!(thrown instanceof JSException)) return { ok: false, broken: `${name}: ${message}` }
    return { ok: false, thrown: `${name}: ${message}`, stack: String(stack) }
  }

  function limitOf(thrown: unknown): EngineLimit | 'ticks' | null {
    if (thrown instanceof TicksSpent) return 'ticks'
    if (thrown instanceof RangeError && /call stack/.test(thrown.message)) return 'stack'
    if (thrown instanceof Error && thrown.message === 'wasm_malloc failed') return 'memory'
    if (!(thrown instanceof WebAssembly.RuntimeError)) return null
    // The C++ of `URL` aborts where an allocation fails.
    return limitOfTrap(engine.traps, String(thrown.stack)) ?? (thrown.message === 'unreachable' ? 'memory' : null)
  }

  return {
    get over() {
      return over
    },
    start: ({ source, args, chance, now }) =>
      turn(now, () => {
        call(begin, args, ...chance).dispose()
        const program = vm.evalCode(source, programFile)
        main = call(program)
        program.dispose()
      }),
    deliver: ({ call: number, ok, text, now }) => turn(now, () => call(settle, number, ok, text).dispose()),
    reset() {
      // What unwound through the engine left it in the middle of something.
      if (broken || !restore()) return false
      rejections.clear()
      main = null
      over = false
      return true
    },
  }
}

/** The prelude is the same for every program: reading it once saves half of each start. */
export async function compilePrelude(module: WebAssembly.Module, text: string): Promise<Uint8Array> {
  using vm = await QuickJS.create({ wasm: module })
  return vm.compile(text, preludeFile)
}

/**
 * Time is the turn's, chance is constant (the program's comes from the prelude), and nothing is
 * written anywhere.
 */
function wasiOf(memory: WebAssembly.Memory, now: () => number): Record<string, (...values: never[]) => number> {
  return {
    clock_time_get(_clock: number, _precision: bigint, at: number) {
      new DataView(memory.buffer).setBigUint64(at, BigInt(now()) * 1_000_000n, true)
      return 0
    },
    random_get(at: number, length: number) {
      new Uint8Array(memory.buffer, at, length).fill(0)
      return 0
    },
    fd_write: () => 8,
  }
}
