/**
 * A small world with dice: a disk that loses what was not synced, servers that answer late, twice
 * or never, and a human.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Catalog } from '#catalog'
import {
  AppError,
  type Effect,
  type Event,
  type EventBodies,
  type Program,
  type RunId,
  type Tool,
  type Turn,
} from '#model'
import type { Chain, InboxItem } from '#record'
import { loadEngine } from '#run'

const { openLocalQueue } = await loadEngine()

export type Dice = () => number

type CallOptions = Parameters<Catalog['try']>[2]
type Trying = { signal: AbortSignal; attempt: number; commit: () => Promise<boolean> }

export const effects: Effect[] = ['read', 'idempotent', 'keyed:key', 'unsafe']

const hash = (text: string) => createHash('sha256').update(text).digest()

/** A pause of a few turns of the event loop, as the dice fall. */
export async function wander(dice: Dice, most = 6): Promise<void> {
  for (let i = Math.floor(dice() * most); i >= 0; i--) await new Promise((resolve) => setImmediate(resolve))
}

/** What stays when the process dies, and what dies with it. */
export class Disk {
  readonly events: Event[] = []
  readonly inbox: InboxItem[] = []
  readonly #dice: Dice
  #life = 0
  #inboxIds = 0
  onInbox = () => {}
  finished = false

  constructor(dice: Dice) {
    this.#dice = dice
  }

  /** Everything that was not synced is gone; the process that held the chain can write no more. */
  crash(): void {
    this.#life += 1
  }

  send(item: Omit<InboxItem, 'id'>): void {
    this.#inboxIds += 1
    this.inbox.push({ ...item, id: this.#inboxIds } as InboxItem)
    setImmediate(() => this.onInbox())
  }

  chain(run: RunId): Chain {
    const life = this.#life
    const buffer: Event[] = []
    const consumed: number[] = []
    let clock = Date.parse(this.events.at(-1)?.at ?? '2026-01-01T00:00:00.000Z')
    const alive = () => {
      if (life !== this.#life) throw new AppError('RUN_OWNED', 'Cannot write: another life has begun')
    }
    const commit = () => {
      alive()
      this.events.push(...buffer.splice(0))
      for (const id of consumed.splice(0))
        this.inbox.splice(
          this.inbox.findIndex((item) => item.id === id),
          1,
        )
    }
    const append: Chain['append'] = (type, body) => {
      alive()
      clock += Math.floor(this.#dice() * 3)
      const n = this.events.length + buffer.length + 1
      const line = JSON.stringify({ run, n, at: new Date(clock).toISOString(), type, body })
      buffer.push(JSON.parse(line) as Event)
      return { n, at: clock }
    }
    const durable = async () => {
      await wander(this.#dice, 3)
      commit()
    }
    return {
      run,
      epoch: life + 1,
      lastAt: () => clock,
      append,
      durable,
      cachedEvents: () => null,
      inbox: () => this.inbox.filter(({ id }) => !consumed.includes(id)),
      takeFromInbox: (id) => void consumed.push(id),
      onInbox: (listener) => {
        this.onInbox = listener
        return () => {}
      },
      seal: () => {},
      sealed: () => [],
      suspend: async (body) => {
        append('run.suspended', body)
        await durable()
      },
      finish: async (body) => {
        append('run.finished', body)
        await durable()
        this.finished = true
      },
    }
  }

  has(type: Event['type'], call: string, attempt: number): boolean {
    return this.events.some(
      (event) =>
        event.type === type &&
        (event.body as EventBodies['call.sent']).call === call &&
        (event.body as EventBodies['call.sent']).attempt === attempt,
    )
  }
}

/** Servers with a memory of their own: what really happened, whatever was said of it. */
export class World {
  readonly done: { args: string; effect: Effect }[] = []
  readonly #dice: Dice
  readonly #disk: Disk

  constructor(dice: Dice, disk: Disk) {
    this.#dice = dice
    this.#disk = disk
  }

  happened(args: string): boolean {
    return this.done.some((effect) => effect.args === args)
  }

  readonly catalog = {
    tool: async (id: string): Promise<Tool | undefined> => {
      await wander(this.#dice, 2)
      const effect = effects.find((name) => id === `w:${name}`)
      const common = { server: 'w', annotations: {}, effectFrom: 'configuration', digest: 'd' } as const
      return effect && ({ id, name: effect, effect, ...common } as Tool)
    },
    near: () => [],
    problemOf: () => null,
    problemOfServer: () => null,
    try: async (tool: Tool, args: unknown, { signal, attempt, commit }: Trying) => {
      const { call } = args as { call: string }
      const error = new AppError('UPSTREAM_UNREACHABLE', 'the world is rough')
      await wander(this.#dice)
      if (this.#dice() < 0.05) return { outcome: 'not_sent' as const, error }
      assert.ok(!this.#disk.has('call.sent', call, attempt), `call ${call} is on the record before it has a slot`)
      if (!(await commit())) return { outcome: 'not_sent' as const, error }
      assert.ok(this.#disk.has('call.sent', call, attempt), `call ${call} left before it was on the record`)
      const fate = this.#dice()
      if (fate < 0.08) return { outcome: 'not_sent' as const, error }
      await wander(this.#dice)
      const text = JSON.stringify(args)
      const isRepeated = tool.effect.startsWith('keyed:') && this.happened(text)
      if (fate > 0.16 && !isRepeated) this.done.push({ args: text, effect: tool.effect })
      await wander(this.#dice)
      if (fate < 0.24 || signal.aborted) return { outcome: 'unknown' as const, error }
      if (fate < 0.32)
        return { outcome: 'answered' as const, ok: false as const, error: new AppError('TOOL_ERROR', 'no') }
      return { outcome: 'answered' as const, ok: true as const, value: { of: call } }
    },
  } as unknown as Catalog

  readonly queue = openLocalQueue({
    make: ({ tool, args, attempt }, signal, commit) =>
      this.catalog.try(tool, args, { attempt, signal, commit } as unknown as CallOptions),
    leftovers: async () => {},
  })
}

/**
 * A program that is a pure function of what it receives, in the order in which it receives it, and
 * of nothing else.
 */
export function hashedProgram(seed: string, path = ''): Program {
  let state = hash(seed).toString('hex')
  let issued = 0
  let open = 0
  let turns = 0
  const turn = (): Turn => {
    turns += 1
    const bytes = hash(state)
    const wanted = turns > 6 ? 0 : bytes[0]! % 4
    const calls = Array.from({ length: wanted }, (_, index) => {
      issued += 1
      const call = path === '' ? String(issued) : `${path}.${issued}`
      const dip = bytes[index + 1]! % 9
      if (dip === 8) return { tool: 'metier:timer', args: JSON.stringify({ ms: bytes[index + 5]! % 3 }) }
      if (dip === 7 && path === '') return { tool: 'metier:program', args: JSON.stringify({ call }), code: state }
      return { tool: `w:${effects[dip % 4]}`, args: JSON.stringify({ call, state: state.slice(0, 8) }) }
    })
    open += calls.length
    if (open > 0 && bytes[9]! % 40 !== 0) return { calls, logs: [] }
    const end = bytes[10]! % 5 === 0 ? failure : { ok: true as const, value: JSON.stringify(state) }
    return { calls, logs: [], end }
  }
  return {
    start: async () => turn(),
    deliver: async ({ call, ok, text, now }) => {
      state = hash(`${state} ${call} ${ok} ${text} ${now}`).toString('hex')
      open -= 1
      return turn()
    },
    drop: () => {},
  }
}

const failure = { ok: false as const, error: new AppError('PROGRAM_ERROR', 'as the dice fell').toJSON() }
