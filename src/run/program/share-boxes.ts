/**
 * Few boxes, many programs: a program has a box while it moves. One that waits may lose its box to
 * another that has something to do, and when its own result comes it is played again from the
 * record, as after a crash.
 */
import { AppError, type Delivery, limits, type Program, type Turn } from '#model'

/** How a program gets a box, and what it has heard in its life, from the record. */
type Source = { open(): Promise<Program>; heard(): Promise<Map<number, Delivery>> }

type BoxShare = { program(source: Source): Program }

/** `playedMs` is how long its turns took: about what playing it again would take. */
type Sharer = { idleSince: number | null; playedMs: number; sleep(): void }

/** `keptMax` bounds what is kept of what a program heard, in characters. */
type ShareOptions = { most: number; idleMs: number; keptMax?: number }

/**
 * At most so many have a box; who waits for one takes it from who has waited for at least `idleMs`
 * itself, and for as long as it would take to play it again: so what is lost to playing again is
 * never more than what was lost to waiting.
 */
export function openBoxShare({ most, idleMs, keptMax = limits.programKeptCharactersMax }: ShareOptions): BoxShare {
  const awake = new Set<Sharer>()
  const queue: (() => void)[] = []
  let taken = 0
  let timer: NodeJS.Timeout | undefined

  function take(): Promise<void> {
    if (taken < most) {
      taken += 1
      return Promise.resolve()
    }
    return new Promise((resolve) => {
      queue.push(resolve)
      look()
    })
  }

  function give(): void {
    const next = queue.shift()
    if (next === undefined) taken -= 1
    else next()
  }

  /** Those that began to wait first stand first. */
  function look(): void {
    clearTimeout(timer)
    const now = performance.now()
    let soonest = Number.POSITIVE_INFINITY
    for (const one of [...awake]) {
      if (queue.length === 0) return
      if (one.idleSince === null) continue
      const rest = one.idleSince + Math.max(idleMs, one.playedMs) - now
      soonest = Math.min(soonest, rest)
      if (rest > 0) continue
      awake.delete(one)
      one.sleep()
      give()
    }
    if (queue.length > 0 && soonest < Number.POSITIVE_INFINITY) timer = setTimeout(look, Math.max(0, soonest) + 1)
  }

  const rested = (one: Sharer) => {
    one.idleSince = performance.now()
    awake.delete(one)
    awake.add(one)
    if (queue.length > 0) look()
  }
  const left = (one: Sharer) => {
    if (awake.delete(one)) give()
  }
  const places = { take, give, rested, left, woke: (one: Sharer) => void awake.add(one), keptMax }
  return { program: (source) => sharing(source, places) }
}

type Places = {
  take(): Promise<void>
  give(): void
  woke(one: Sharer): void
  rested(one: Sharer): void
  left(one: Sharer): void
  keptMax: number
}

type Act = (program: Program) => Promise<Turn>

function isDeath(error: unknown): boolean {
  return error instanceof AppError && error.code === 'SANDBOX_EXECUTION_FAILED'
}

function sharing(source: Source, places: Places): Program {
  const heard: number[] = []
  /**
   * The same with what it heard, as long as that is little: else it is read where it was written.
   */
  let kept: Map<number, Delivery> | null = new Map()
  let keptCharacters = 0
  let box: Promise<Program> | null = null
  let open = 0
  let deaths = 0
  let isStarted = false
  let isOver = false
  const self: Sharer = { idleSince: null, playedMs: 0, sleep }

  function sleep(): void {
    box?.then((program) => program.drop()).catch(() => {})
    box = null
  }

  /** `before` is what it has heard; null where it is yet to begin. */
  async function wake(before: number[] | null): Promise<Program> {
    await places.take()
    try {
      const program = isOver ? null : await source.open()
      if (program !== null && before !== null) await playAgain(program, before)
      if (program !== null && !isOver) {
        places.woke(self)
        return program
      }
      program?.drop()
      throw new AppError('CANCELLED', 'Cannot continue the program: it was dropped')
    } catch (error) {
      places.give()
      throw error
    }
  }

  /** What it did then it does again, and nobody listens. */
  async function playAgain(program: Program, before: number[]): Promise<void> {
    const deliveries = kept ?? (await source.heard())
    await Promise.all([program.start(), ...before.map((call) => program.deliver(deliveries.get(call)!))])
  }

  function keep(delivery: Delivery): void {
    keptCharacters += delivery.text.length
    if (keptCharacters > places.keptMax) kept = null
    kept?.set(delivery.call, delivery)
  }

  async function turn(act: Act): Promise<Turn> {
    if (isOver) return nothing
    open += 1
    self.idleSince = null
    const before = isStarted ? [...heard] : null
    box ??= wake(before)
    const mine = box
    try {
      const taken = await moved(mine, act).catch((error) => again(error, mine, before, act))
      if (taken.end !== undefined) over()
      return taken
    } catch (error) {
      over()
      throw error
    } finally {
      open -= 1
      if (open === 0 && !isOver) places.rested(self)
    }
  }

  async function moved(one: Promise<Program>, act: Act): Promise<Turn> {
    const program = await one
    const began = performance.now()
    const taken = isOver ? nothing : await act(program)
    self.playedMs += performance.now() - began
    return taken
  }

  /**
   * Whoever killed a box did not kill its program: another box plays what it heard, and goes on.
   * Turns are rejected in their order.
   */
  async function again(error: unknown, dead: Promise<Program>, before: number[] | null, act: Act): Promise<Turn> {
    if (isOver || !isDeath(error)) throw error
    if (box === dead) {
      deaths += 1
      if (deaths > limits.boxDeathsMax) throw error
      places.left(self)
      box = wake(before)
    }
    return moved(box!, act)
  }

  function over(): void {
    isOver = true
    places.left(self)
  }

  return {
    start() {
      const turned = turn((program) => program.start())
      isStarted = true
      return turned
    },
    deliver(delivery) {
      const turned = turn((program) => program.deliver(delivery))
      heard.push(delivery.call)
      keep(delivery)
      return turned
    },
    drop() {
      if (isOver) return
      over()
      sleep()
    },
  }
}

const nothing: Turn = { calls: [], logs: [] }
