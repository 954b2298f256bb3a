/**
 * A program that does something else than its record says: the run ends with the difference, and
 * nothing is sent.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EventBodies, newId, type Program, type RunId, toText } from '#model'
import type { Chain } from '#record'
import { loadEngine, type Settlement } from '#run'
import { Disk, World } from './world.ts'

const { Conductor, readJournal } = await loadEngine()

const run = newId<RunId>()
const read = { tool: 'w:read', args: '{"call":"1"}' }
const unsafe = { tool: 'w:unsafe', args: '{"call":"2"}' }
const other = { tool: 'w:unsafe', args: '{"call":"2","to":"elsewhere"}' }

/** Issues both calls at once and waits for good. */
function issues(...calls: (typeof read)[]): Program {
  return { start: async () => ({ calls, logs: [] }), deliver: async () => ({ calls: [], logs: [] }), drop: () => {} }
}

/** A record in which the first call is answered and the second was sent and not answered. */
async function recorded(): Promise<{ disk: Disk; world: World }> {
  const disk = new Disk(() => 0.9)
  const chain = disk.chain(run)
  const budget = { calls: 10, wallMs: 60_000, bytes: 1e6 }
  chain.append('run.started', {
    budget,
    expireMs: 1000,
    permissions: 'privileged',
    plan: {},
    args: {},
  } as unknown as EventBodies['run.started'])
  for (const [call, { tool, args }, effect] of [
    ['1', read, 'read'],
    ['2', unsafe, 'unsafe'],
  ] as const) {
    chain.append('call.issued', {
      call,
      tool,
      args: JSON.parse(args),
      effect,
      effectFrom: 'configuration',
      definition: 'd',
    })
    chain.append('call.sent', { call, attempt: 1 })
  }
  chain.append('call.resolved', {
    call: '1',
    attempt: 1,
    outcome: 'answered',
    ok: true,
    value: 1,
    ms: 1,
    by: 'upstream',
  })
  await chain.durable()
  return { disk, world: new World(() => 0.9, disk) }
}

function live(disk: Disk, { catalog, queue }: World, program: Program): Promise<Settlement> {
  const chain: Chain = disk.chain(run)
  const conductor = new Conductor({
    originsOf: () => [],
    chain,
    catalog,
    queue,
    program,
    journal: readJournal(disk.events, toText),
    nest: () => assert.fail('nothing is nested here'),
    secrets: {
      hide: (value) => value,
      hideInSlices: (value) => value,
      reveal: (value) => ({ value, foreign: [], isLost: false }),
    },
    policy: { expireMs: 1000, permissions: 'privileged', rules: [], isSpeculated: false, write: () => {} },
    mocked: null,
    now: () => 0,
    pause: async () => {},
  })
  conductor.begin()
  return conductor.settled
}

const changed: Record<string, Program> = {
  'other arguments': issues(read, other),
  'another tool': issues(read, { ...unsafe, tool: 'w:read' }),
  'a call fewer': issues(read),
}

for (const [name, program] of Object.entries(changed)) {
  test(`a replay with ${name} sends nothing, lets a human settle what is in doubt, and ends with the difference`, async () => {
    const { disk, world } = await recorded()
    assert.equal(await live(disk, world, program), 'uncertain')
    disk.send({ type: 'call.settled', body: { call: '2', how: 'failed', text: 'no', who: 'human', from: 'cli' } })
    assert.equal(await live(disk, world, program), 'failed')
    const last = disk.events.at(-1)!
    assert.equal(last.type === 'run.finished' && last.body.error?.code, 'REPLAY_MISMATCH')
    assert.deepEqual(world.done, [])
    const resolved = disk.events.flatMap((event) => (event.type === 'call.resolved' ? [event.body.call] : []))
    assert.deepEqual(resolved, ['1', '2'], 'each call has one result')
  })
}
