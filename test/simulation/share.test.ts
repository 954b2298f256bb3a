/**
 * Programs that take the one box from each other again and again say what they would have said with
 * a box of their own.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { AppError, type Delivery, type Program, type Turn } from '#model'
import { loadEngine } from '#run'
import { dice } from '#test'
import { hashedProgram, wander } from './world.ts'

const { openBoxShare } = await loadEngine()

type Life = { turns: Turn[]; deliveries: Delivery[] }

/**
 * Answers one open call after the other, as the dice fall, until the program ends or nothing is
 * open.
 */
async function live(program: Program, life: Life, roll: () => number): Promise<Turn[]> {
  const open: number[] = []
  let issued = 0
  const take = (turn: Turn) => {
    life.turns.push(turn)
    for (const _ of turn.calls) open.push(++issued)
  }
  take(await program.start())
  while (open.length > 0 && life.turns.at(-1)!.end === undefined) {
    const [call] = open.splice(Math.floor(roll() * open.length), 1)
    await wander(roll)
    const delivery = { call: call!, ok: true, text: `{"of":${call}}`, now: life.turns.length }
    life.deliveries.push(delivery)
    take(await program.deliver(delivery))
  }
  program.drop()
  return life.turns
}

test('openShare() never opens more boxes than there are, and every program moves as if it were alone', async () => {
  let opened = 0
  for (let seed = 1; seed <= 40; seed++) {
    let boxes = 0
    const share = openBoxShare({ most: 2, idleMs: 0, ...(seed % 2 === 0 && { keptMax: 20 }) })
    const lives = Array.from({ length: 6 }, async (_, at) => {
      const name = `${seed} ${at}`
      const life: Life = { turns: [], deliveries: [] }
      const open = async (): Promise<Program> => {
        boxes += 1
        opened += 1
        assert.ok(boxes <= 2, 'no more boxes than there are')
        const program = hashedProgram(name)
        let isOpen = true
        const close = () => {
          if (isOpen) boxes -= 1
          isOpen = false
        }
        const watch = async (turn: Promise<Turn>) => {
          const taken = await turn
          if (taken.end !== undefined) close()
          return taken
        }
        return { start: () => watch(program.start()), deliver: (one) => watch(program.deliver(one)), drop: close }
      }
      const heard = async () => new Map(life.deliveries.map((delivery) => [delivery.call, delivery]))
      const shared = await live(share.program({ open, deliveries: heard }), life, dice(seed * 31 + at))
      const alone = await live(hashedProgram(name), { turns: [], deliveries: [] }, dice(seed * 31 + at))
      assert.deepEqual(shared, alone, `seed ${seed}`)
    })
    await Promise.all(lives)
    assert.equal(boxes, 0, 'every box was given back')
  }
  assert.ok(opened > 40 * 6 + 40, `boxes were taken from programs that waited: ${opened}`)
})

test('openShare() gives a place on when a box cannot be had, dies, or is dropped while its program waits in line', async () => {
  const share = openBoxShare({ most: 1, idleMs: 0 })
  const heard = async () => new Map<number, Delivery>()
  const never = share.program({ open: () => Promise.reject(new Error('no box')), deliveries: heard })
  await assert.rejects(never.start(), /no box/)
  const died = { start: () => Promise.reject(new Error('died')), deliver: () => assert.fail(), drop: () => {} }
  await assert.rejects(share.program({ open: async () => died, deliveries: heard }).start(), /died/)
  const turn = { calls: [], logs: [] }
  const slow = Promise.withResolvers<Turn>()
  const busy = { start: () => slow.promise, deliver: async () => turn, drop: () => slow.reject(new Error('dropped')) }
  const first = share.program({ open: async () => busy, deliveries: heard })
  const started = first.start()
  const waiting = share.program({
    open: async () => assert.fail('it was dropped before its turn came'),
    deliveries: heard,
  })
  const late = waiting.start()
  waiting.drop()
  first.drop()
  await assert.rejects(started, /dropped/)
  await assert.rejects(late, { code: 'CANCELLED' })
  const last = share.program({
    open: async () => ({ ...busy, start: async () => turn, drop: () => {} }),
    deliveries: heard,
  })
  assert.deepEqual(await last.start(), turn)
})

test('openShare() plays a program again whose box was killed, whatever it was about to hear, and gives up on one that kills them', async () => {
  const dead = () =>
    Promise.reject(new AppError('SANDBOX_EXECUTION_FAILED', 'Cannot continue: its box ended with SIGKILL'))
  const life = async (name: string, killed: (turn: number) => boolean) => {
    const share = openBoxShare({ most: 1, idleMs: 0 })
    const heard = new Map<number, Delivery>()
    let turns = 0
    const open = async (): Promise<Program> => {
      const { start, deliver, drop } = hashedProgram(name)
      let isDead = false
      const alive = (turn: () => Promise<Turn>) => {
        turns += 1
        if (killed(turns)) isDead = true
        return isDead ? dead() : turn()
      }
      return { start: () => alive(start), deliver: (one) => alive(() => deliver(one)), drop }
    }
    const program = share.program({ open, deliveries: async () => heard })
    const { calls } = await program.start()
    const deliveries = calls.map((_, at): Delivery => ({ call: at + 1, ok: true, text: '1', now: at }))
    for (const one of deliveries) heard.set(one.call, one)
    const said = await Promise.all(deliveries.map((one) => program.deliver(one)))
    program.drop()
    return [calls, ...said]
  }
  for (let seed = 1; seed <= 20; seed++) {
    const alone = await life(`${seed}`, () => false)
    for (const at of [1, 2, 3]) assert.deepEqual(await life(`${seed}`, (turn) => turn === at), alone, `${seed} ${at}`)
  }
  await assert.rejects(
    life('1', () => true),
    { code: 'SANDBOX_EXECUTION_FAILED' },
  )
})

test('openShare() takes the box of a program that is soon played again, before that of one that is not', async () => {
  const share = openBoxShare({ most: 2, idleMs: 0 })
  const heard = async () => new Map<number, Delivery>()
  const turn: Turn = { calls: [{ tool: 'w:step', args: '{}' }], logs: [] }
  const dropped: string[] = []
  const open = (name: string, ms: number) => async (): Promise<Program> => ({
    start: () => pause(ms, turn),
    deliver: async () => turn,
    drop: () => void dropped.push(name),
  })
  await share.program({ open: open('long', 500), deliveries: heard }).start()
  await share.program({ open: open('short', 0), deliveries: heard }).start()
  await share.program({ open: open('next', 0), deliveries: heard }).start()
  assert.deepEqual(dropped, ['short'])
})
