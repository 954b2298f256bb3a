/**
 * Few boxes, many programs: a program has a box while it moves. One that waits may lose its box to another that has something
 * to do, and when its own result comes it is played again from the record, as after a crash.
 */
import { AppError, type Delivery, type Program, type Turn } from '#model'

/** How a program gets a box, and what it has heard in its life, from the record. */
export type Source = { open(): Promise<Program>; heard(): Promise<Map<number, Delivery>> }

export type Share = { program(source: Source): Program }

type Sharer = { idleSince: number | null; sleep(): void }

/** At most so many have a box; who waits for one takes it from who has waited for at least `idleMs` itself. */
export function openShare({ most, idleMs }: { most: number; idleMs: number }): Share {
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
    for (const one of [...awake]) {
      if (queue.length === 0) return
      if (one.idleSince === null) continue
      const rest = one.idleSince + idleMs - now
      if (rest > 0) {
        timer = setTimeout(look, rest + 1)
        return
      }
      awake.delete(one)
      one.sleep()
      give()
    }
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
  return { program: (source) => sharing(source, { take, give, rested, left, woke: (one) => void awake.add(one) }) }
}

type Places = {
  take(): Promise<void>
  give(): void
  woke(one: Sharer): void
  rested(one: Sharer): void
  left(one: Sharer): void
}

function sharing(source: Source, places: Places): Program {
  const heard: number[] = []
  let box: Promise<Program> | null = null
  let open = 0
  let isStarted = false
  let isOver = false
  const self: Sharer = { idleSince: null, sleep }

  function sleep(): void {
    box?.then((program) => program.drop()).catch(() => {})
    box = null
  }

  async function wake(): Promise<Program> {
    const before = isStarted ? [...heard] : null
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
    const deliveries = await source.heard()
    await Promise.all([program.start(), ...before.map((call) => program.deliver(deliveries.get(call)!))])
  }

  async function turn(act: (program: Program) => Promise<Turn>): Promise<Turn> {
    if (isOver) return nothing
    open += 1
    self.idleSince = null
    box ??= wake()
    try {
      const taken = await box.then((program) => (isOver ? nothing : act(program)))
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
