/**
 * How near a graph comes to its critical path: the longest chain of its durations, or, where there
 * are more tasks than may be under way at once, the work that they share. Several shapes, durations
 * from a seed. `node bench/dag.ts [--json]`.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type DagTask, type Json, limits, type Plan } from '#model'
import { median, preferUs } from './peers/chain.ts'
import { inProcess, openBench, runToEnd } from './peers/ours.ts'

type Task = { id: string; ms: number; needs: string[] }
type Shape = { name: string; tasks: Task[] }

const bar = 0.95
const rounds = 5

/** Numbers from a seed (mulberry32). */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function shapes(): Shape[] {
  const roll = dice(7)
  const ms = () => 50 + Math.floor(roll() * 250)
  const wide = Array.from({ length: 50 }, (_, i) => ({ id: `w${i}`, ms: 400, needs: ['first'] }))
  const ids = wide.map(({ id }) => id)
  const layers = Array.from({ length: 6 }, (_, layer) =>
    Array.from({ length: 8 }, (_, i) => ({
      id: `l${layer}_${i}`,
      ms: ms(),
      needs: layer === 0 ? [] : [0, 1, 2, 3, 4, 5, 6, 7].filter(() => roll() < 0.4).map((j) => `l${layer - 1}_${j}`),
    })),
  )
  const chain = Array.from({ length: 5 }, (_, i) => ({ id: `c${i}`, ms: 200, needs: i === 0 ? [] : [`c${i - 1}`] }))
  const crowd = Array.from({ length: 4 * limits.callsInFlightMax }, (_, i) => ({ id: `x${i}`, ms: 250, needs: [] }))
  return [
    {
      name: 'a fan of 50, out and in',
      tasks: [{ id: 'first', ms: 200, needs: [] }, ...wide, { id: 'last', ms: 200, needs: ids }],
    },
    {
      name: 'a diamond with one long side',
      tasks: [
        { id: 'a', ms: 200, needs: [] },
        { id: 'b', ms: 800, needs: ['a'] },
        { id: 'c', ms: 300, needs: ['a'] },
        { id: 'd', ms: 300, needs: ['c'] },
        { id: 'e', ms: 200, needs: ['b', 'd'] },
      ],
    },
    { name: '6 layers of 8, random', tasks: layers.flat() },
    { name: 'a chain of 5', tasks: chain },
    { name: `${crowd.length} at once, ${limits.callsInFlightMax} under way`, tasks: crowd },
  ]
}

/**
 * No schedule can be shorter than its longest chain, nor than all of the work divided by those who
 * may be under way.
 */
function criticalPath(tasks: Task[]): number {
  const ends = new Map<string, number>()
  for (const { id, ms, needs } of tasks) ends.set(id, ms + Math.max(0, ...needs.map((need) => ends.get(need)!)))
  const work = tasks.reduce((sum, { ms }) => sum + ms, 0)
  return Math.max(...ends.values(), work / limits.callsInFlightMax)
}

function planOf(tasks: Task[]): Plan {
  const list = tasks.map(
    ({ id, ms, needs }): DagTask => ({ id, tool: 'w:step', arguments: { n: ms }, dependsOn: needs }),
  )
  return { kind: 'dag', tasks: list }
}

type Row = { name: string; tasks: number; criticalMs: number; ms: number; share: number }

async function main(): Promise<void> {
  preferUs()
  const wait = async (args: Json): Promise<Json> => {
    await pause((args as { n: number }).n)
    return null
  }
  const bench = await openBench(inProcess(wait))
  const rows: Row[] = []
  for (const { name, tasks } of shapes()) {
    const plan = planOf(tasks)
    const times: number[] = []
    for (let round = 0; round < rounds; round++) {
      const began = performance.now()
      await runToEnd(bench, plan)
      times.push(performance.now() - began)
    }
    const criticalMs = criticalPath(tasks)
    rows.push({ name, tasks: tasks.length, criticalMs, ms: median(times), share: criticalMs / median(times) })
  }
  await bench.close()
  if (process.argv.includes('--json')) return console.log(JSON.stringify(rows))
  for (const { name, tasks, criticalMs, ms, share } of rows) {
    const said = `${(100 * share).toFixed(1)} % of the critical path (≥ ${100 * bar} %), ${ms.toFixed(0)} ms against ${criticalMs.toFixed(0)} ms`
    console.log(`${share >= bar ? 'ok    ' : 'MISSED'} ${name.padEnd(32)} ${String(tasks).padStart(4)} tasks  ${said}`)
  }
  if (rows.some(({ share }) => share < bar)) process.exitCode = 1
}

await main()
