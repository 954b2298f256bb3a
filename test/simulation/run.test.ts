/**
 * Thousands of runs in a rough world, from seeds: crashes, lost tails, late and missing answers;
 * what is promised holds in each.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EventBodies, newId, type PolicyRule, type RunId, toText } from '#model'
import type { Chain, Secrets } from '#record'
import { loadEngine, type RunContext, type Settlement } from '#run'
import { dice } from '#test'
import { type Dice, Disk, hashedProgram, World, wander } from './world.ts'

const { Conductor, deliveriesOf, newJournal, openBoxShare, readJournal, runPolicy } = await loadEngine()

const nothingStands = () => ({ lines: new Map(), forgotten: new Set<string>() })
const rulesOf = (seed: number): PolicyRule[] => [
  { tool: 'w:keyed:key', then: 'allow' },
  { tool: 'w:unsafe', then: seed % 3 === 0 ? 'ask' : 'allow' },
]

const rounds = process.env.LONG === '1' ? 10_000 : 1000
const first = Number(process.env.SEED ?? 1)
const secrets: Secrets = {
  hide: (value) => value,
  hideInSlices: (value) => value,
  reveal: (value) => ({ value, foreign: [], isLost: false }),
}

test(`${rounds} runs from seed ${first} keep every promise`, { timeout: 3_600_000 }, async (t) => {
  const total = { crashes: 0, doubts: 0, questions: 0, done: 0, failed: 0, cancelled: 0 }
  for (let seed = first; seed < first + rounds; seed++) {
    try {
      await simulate(seed, total)
    } catch (error) {
      throw new Error(
        `SEED=${seed} node --test test/simulation/run.test.ts plays this again: ${(error as Error).message}`,
        { cause: error },
      )
    }
  }
  t.diagnostic(JSON.stringify(total))
  assert.ok(
    total.crashes > rounds / 2 && total.doubts > rounds / 20 && total.questions > rounds / 20,
    'the world was rough enough',
  )
})

type Total = { crashes: number; doubts: number; questions: number; done: number; failed: number; cancelled: number }

async function simulate(seed: number, total: Total): Promise<void> {
  const roll = dice(seed * 2654435761)
  const disk = new Disk(roll)
  const world = new World(roll, disk)
  const again = new Set<string>()
  const run = newId<RunId>()
  const crashes = Math.floor(roll() * 4)
  for (let life = 0; life < 40 && !disk.finished; life++) {
    const settlement = await soon(live(seed, run, disk, world, roll, life < crashes))
    if (settlement === null) total.crashes += 1
    else if (settlement === 'uncertain') total.doubts += settleDoubts(disk, world, roll, again)
    else if (settlement === 'approval_required') total.questions += answerQuestions(disk, roll)
    else if (settlement === 'cancelled') total.cancelled += 1
    else total[settlement === 'done' ? 'done' : 'failed'] += 1
  }
  assert.ok(disk.finished, 'the run came to an end')
  check(disk, world, again)
  await checkReplay(seed, disk)
}

/** So long that it does not come to pass here. */
function never(signal: AbortSignal): Promise<void> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
}

/** A world that stands still is a promise that is broken. */
async function soon<T>(life: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the run neither ends nor asks')), 5000)
  })
  return Promise.race([life, late]).finally(() => clearTimeout(timer))
}

/** One life of a process that owns the run; null if it was killed in the middle of it. */
async function live(
  seed: number,
  run: RunId,
  disk: Disk,
  world: World,
  roll: Dice,
  isDoomed: boolean,
): Promise<Settlement | null> {
  const chain = disk.chain(run)
  const started = startedBody(seed)
  if (disk.events.length === 0) {
    chain.append('run.started', started)
    await chain.durable()
  }
  const journal = disk.events.length > 1 ? readJournal(disk.events, toText) : newJournal(started, chain.lastAt())
  const conductor = new Conductor({
    originsOf: () => [],
    chain,
    journal,
    ...programsOf(seed, chain, disk),
    secrets,
    catalog: world.catalog,
    queue: world.queue,
    mocked: null,
    policy: runPolicy('standard', { permissions: 'standard', rules: rulesOf(seed) }, nothingStands, journal.lines),
    now: () => Date.parse('2026-01-01T00:00:00.000Z'),
    pause: (ms, signal) => (ms > 60_000 ? never(signal) : wander(roll)),
  })
  conductor.begin()
  if (seed % 10 === 7) cancelSoon(disk, roll)
  if (!isDoomed) return conductor.settled
  let end: 'none' | 'killed' | 'settled' = 'none'
  const killed = wander(roll, 60).then(() => {
    if (end === 'settled') return null
    end = 'killed'
    disk.crash()
    void conductor.leave().catch(() => {}) // a dead process has no timers
    return null
  })
  const settled = conductor.settled.then(
    (settlement) => {
      end = 'settled'
      return settlement
    },
    (error: unknown) => {
      if (end === 'killed') return null
      throw error
    },
  )
  return Promise.race([killed, settled])
}

/** A process elsewhere cancels the run, at any time, maybe more than once. */
function cancelSoon(disk: Disk, roll: Dice): void {
  void wander(roll, 40).then(() => {
    if (!disk.finished) disk.send({ type: 'cancel.asked', body: { who: 'human', from: 'cli' } })
  })
}

/**
 * Every second run has to do with one box for all its programs: they take it from each other
 * whenever they wait.
 */
function programsOf(seed: number, chain: Chain, disk: Disk): Pick<RunContext, 'program' | 'nest'> {
  const program = hashedProgram(String(seed))
  if (seed % 2 === 0) return { program, nest: async (code, _args, id) => hashedProgram(String(code), id) }
  const share = openBoxShare({ most: 1, idleMs: 0, keptMax: 0 })
  const shared = (path: string, code: string) => {
    const heard = async () => {
      await chain.durable()
      return deliveriesOf(readJournal(disk.events, toText), path)
    }
    return share.program({ open: async () => hashedProgram(code, path), deliveries: heard })
  }
  return { program: shared('', String(seed)), nest: async (code, _args, id) => shared(id, String(code)) }
}

function startedBody(seed: number): EventBodies['run.started'] {
  const budget = { calls: 1000, wallMs: 60_000, bytes: 1e9 }
  return {
    intent: null,
    mode: 'run',
    plan: { kind: 'dag', source: [], digest: '' },
    args: {},
    actor: { kind: 'cli', name: 'dice' },
    permissions: 'standard',
    budget,
    seed: String(seed),
    engine: { name: 'dice', version: '1', digest: '' },
    servers: {},
    isolation: null,
  }
}

/** The human looks at the world, and says what happened there, or has it done again. */
function settleDoubts(disk: Disk, world: World, roll: Dice, again: Set<string>): number {
  const calls = readJournal(disk.events, toText).calls
  const doubts = [...calls.values()].filter(({ last, effect }) => last === 'sent' && effect === 'unsafe')
  for (const { id, args } of doubts) {
    const said = { call: id, who: 'human', from: 'cli' }
    if (world.happened(args)) disk.send({ type: 'call.settled', body: { ...said, how: 'done', value: 1 } })
    else if (roll() < 0.5) disk.send({ type: 'call.settled', body: { ...said, how: 'failed', text: 'no' } })
    else {
      again.add(args)
      disk.send({ type: 'call.settled', body: { ...said, how: 'again' } })
    }
  }
  return doubts.length
}

function answerQuestions(disk: Disk, roll: Dice): number {
  const calls = readJournal(disk.events, toText).calls
  const open = [...calls.values()].filter(
    ({ asked, answered, last }) => asked !== undefined && answered === undefined && last === 'issued',
  )
  for (const { asked } of open) {
    const { approval, call, digest } = asked!
    const answer = roll() < 0.7 ? ('approved' as const) : ('denied' as const)
    disk.send({ type: 'approval.answered', body: { approval, call, digest, answer, who: 'human', from: 'cli' } })
  }
  return open.length
}

function check(disk: Disk, world: World, again: Set<string>): void {
  const issued = disk.events.flatMap((event) => (event.type === 'call.issued' ? [event.body.call] : []))
  const resolved = disk.events.flatMap((event) => (event.type === 'call.resolved' ? [event.body.call] : []))
  assert.equal(new Set(issued).size, issued.length, 'no call is issued twice on the record')
  assert.deepEqual([...resolved].sort(), [...issued].sort(), 'every call has exactly one result')
  for (const { args, effect } of world.done) {
    const times = world.done.filter((other) => other.args === args).length
    if (effect === 'unsafe' || effect.startsWith('keyed:'))
      assert.ok(times === 1 || again.has(args), `${effect} ${args} happened ${times} times`)
  }
  const last = disk.events.at(-1)!
  assert.equal(last.type, 'run.finished', 'nothing follows the end')
  const cancelled = disk.events.findIndex(({ type }) => type === 'cancel.asked')
  if (cancelled < 0) return
  const sentAfter = disk.events.slice(cancelled).filter(({ type }) => type === 'call.sent')
  assert.deepEqual(sentAfter, [], 'nothing is sent after a cancel')
}

/** The whole record, replayed into a fresh program, gives the recorded end again. */
async function checkReplay(seed: number, disk: Disk): Promise<void> {
  const last = disk.events.at(-1)!
  if (last.type !== 'run.finished' || last.body.status !== 'done') return
  const journal = readJournal(disk.events, toText)
  const program = hashedProgram(String(seed))
  let { end } = await program.start()
  for (const { program: path, delivery } of journal.deliveries) {
    if (path === '' && end === undefined) end = (await program.deliver(delivery)).end
  }
  assert.ok(end?.ok === true && JSON.parse(end.value) === last.body.result, 'the record teaches what happened')
}
