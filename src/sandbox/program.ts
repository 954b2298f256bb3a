/** A program of the model, driven over a box: each message is answered by one turn, in order. */
import { AppError, assert, type Delivery, limits, type Program, sha256Bytes, type Turn, tracedOperations } from '#model'
import type { Box } from './box.ts'
import type { BootMessage, Message } from './inside/child.ts'
import type { MachineLimits, StartMessage } from './inside/machine.ts'
import { outOfMemory, readTurn } from './parse-turn.ts'
import { BoxDeath } from './start-box.ts'

/** Bounds may be narrowed, never widened. */
type ProgramLimits = MachineLimits & { turnWallMsMax: number }

export type ProgramOptions = {
  /** From `prepareProgram()`. */
  source: string
  /** JSON text. */
  args: string
  /** 64 hexadecimal digits. */
  seed: string
  now: number
  /** Whether turns tell the pure operations of the program. */
  isTraced?: boolean
  limits?: Partial<ProgramLimits>
}

const usualLimits: MachineLimits = {
  memoryBytesMax: limits.programMemoryBytesMax,
  stackBytesMax: limits.programStackBytesMax,
  ticksPerTurnMax: limits.programTicksPerTurnMax,
}

/**
 * What the child is told first: the bounds that it and its guest keep, and where it finds another
 * engine.
 */
export function bootMessage(addon: string | null): { boot: BootMessage } {
  const guest = {
    callsInFlightMax: limits.callsInFlightMax,
    callsWaitingMax: limits.programCallsWaitingMax,
    callArgumentsBytesMax: limits.callArgumentsBytesMax,
    toolIdMax: limits.toolIdCharactersMax,
    timersMax: limits.programTimersMax,
    timerMsMax: limits.timerMsMax,
    logLinesMax: limits.programLogLinesMax,
    logLineMax: limits.programLogLineBytesMax,
    errorTextMax: limits.programErrorCharactersMax,
    operations: tracedOperations,
    operationsMax: limits.tracedOperationsMax,
  }
  // Twice the engine's own limit: the memory must hold the old and the new while something large is
  // moved.
  const engineBytesMax = 2 * limits.programMemoryBytesMax
  const engineRoomBytes = limits.programMemoryReadyBytes
  return { boot: { engineBytesMax, engineRoomBytes, guest, machine: usualLimits, addon } }
}

/** `release` is called once, with whether the box may serve another program. */
export function driveProgram(box: Box, { start, wallMs }: CheckedProgram, release: (clean: boolean) => void): Program {
  const delivered = new Set<number>()
  let state: 'new' | 'running' | 'over' = 'new'
  let open = 0
  let watchdog: NodeJS.Timeout | undefined

  /**
   * Of many turns that were asked for at once, each has its time from when the one before it is
   * back.
   */
  function watch(): void {
    clearTimeout(watchdog)
    if (open > 0) watchdog = setTimeout(() => box.kill(tookTooLong(wallMs)), wallMs)
  }

  function finish(clean: boolean): void {
    if (state === 'over') return
    state = 'over'
    release(clean)
  }

  async function ask(message: Message): Promise<Turn> {
    open += 1
    if (open === 1) watch()
    try {
      const { turn, clean } = readTurn(await box.ask(JSON.stringify(message)))
      if (turn.end) finish(clean)
      return turn
    } catch (thrown) {
      const wasOver = state === 'over'
      finish(false)
      if (!isOutOfMemory(thrown)) throw thrown
      // Some of what fills V8's memory ends its process: the first turn says so, the others were
      // never played.
      return wasOver ? { calls: [], logs: [] } : { calls: [], logs: [], end: outOfMemory() }
    } finally {
      open -= 1
      watch()
    }
  }

  /**
   * Between two turns the child can forget its program; the next program of this box starts after
   * that.
   */
  function forget(): void {
    box.ask(JSON.stringify({ drop: true } satisfies Message)).catch(() => {})
    finish(true)
  }

  return {
    async start() {
      assert(state === 'new', 'a program is started once')
      state = 'running'
      return ask({ start })
    },
    /** A delivery may come when the program is over: then nothing happens. */
    async deliver({ call, ok, text, now }: Delivery) {
      assert(state !== 'new', 'a program is started before anything is delivered to it')
      if (state === 'over') return { calls: [], logs: [] }
      assert(!delivered.has(call), `call ${call} has one result`)
      delivered.add(call)
      return ask({ deliver: { call, ok, text, now } })
    },
    drop() {
      if (state === 'over') return
      if (state === 'new') return finish(true)
      if (open === 0) return forget()
      box.kill(new AppError('CANCELLED', 'Cannot continue the program: its box was dropped'))
      finish(false)
    },
  }
}

/** V8's last words, where it cannot end an isolate alone. */
function isOutOfMemory(thrown: unknown): boolean {
  return thrown instanceof BoxDeath && /is_heap_oom = 1|^# Fatal JavaScript invalid size error/m.test(thrown.stderr)
}

type CheckedProgram = { start: StartMessage; wallMs: number }

/** Refuses what is out of bounds, before a box is taken for it. */
export function checkProgram(options: ProgramOptions): CheckedProgram {
  const { source, args, seed, now, isTraced = false, limits: narrowed = {} } = options
  assert(/^[0-9a-f]{64}$/.test(seed), 'a seed is 32 bytes in hexadecimal')
  if (Buffer.byteLength(args) > limits.programArgumentsBytesMax) {
    const details = `must be at most ${limits.programArgumentsBytesMax} bytes of JSON`
    throw new AppError('INVALID_INPUT_PARAM', `Cannot start the program: "args" ${details}`, { param: 'args', details })
  }
  const narrow = (name: keyof MachineLimits) => Math.min(usualLimits[name], narrowed[name] ?? usualLimits[name])
  const bounds: MachineLimits = {
    memoryBytesMax: narrow('memoryBytesMax'),
    stackBytesMax: narrow('stackBytesMax'),
    ticksPerTurnMax: narrow('ticksPerTurnMax'),
  }
  const start = { source, args, now, isTraced, chance: chanceOf(seed), limits: bounds }
  return { start, wallMs: narrowed.turnWallMsMax ?? limits.programTurnWallMsMax }
}

/** Four words for the guest's dice: the seed itself never enters the box. */
function chanceOf(seed: string): number[] {
  const digest = sha256Bytes(`metier/program-chance\0${seed}`)
  return [0, 4, 8, 12].map((at) => digest.readInt32LE(at))
}

function tookTooLong(ms: number): AppError {
  const message = `Cannot continue the program: a turn took more than ${ms} ms; do less between two calls`
  return new AppError('SANDBOX_TIMEOUT', message, { limit: 'wall', ms })
}
