/** The order in which tasks become ready is the one that a sweep over the whole list would find. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DagTask } from '#model'
import { dice } from '#test'
import { needsOf } from './check-dag.ts'
import { Order } from './ready-order.ts'

test('Order takes tasks as sweeps over the list do, also where some are skipped', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const roll = dice(seed)
    const tasks = graph(roll)
    const script = tasks.map(() => roll())
    assert.deepEqual(played(tasks, script), swept(tasks, script), `seed ${seed}`)
  }
})

function graph(roll: () => number): DagTask[] {
  const ids = Array.from({ length: 2 + Math.floor(roll() * 12) }, (_, i) => `t${i}`)
  const ranks = ids.map(() => roll())
  return ids.map((id, i) => ({
    id,
    tool: 'a:b',
    arguments: {},
    dependsOn: ids.filter((_, j) => ranks[j]! < ranks[i]! && roll() < 0.3),
  }))
}

/** What each task does when it is its turn: is skipped, is over at once, or is over later. */
const fate = (share: number) => (share < 0.2 ? 'skipped' : share < 0.5 ? 'at once' : 'later')

function played(tasks: DagTask[], script: number[]): string[][] {
  const order = new Order(tasks)
  const turns: string[][] = []
  const open: string[] = []
  const turn = () => {
    const taken: string[] = []
    for (let next = order.next(); next !== null; next = order.next()) {
      const { id } = next.task
      const what = next.isSkipped ? 'skipped' : fate(script[tasks.indexOf(next.task)]!)
      taken.push(`${id} ${what}`)
      if (what === 'later') open.push(id)
      else order.over(id, what === 'skipped')
    }
    turns.push(taken)
  }
  turn()
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    order.over(id, false)
    turn()
  }
  return turns
}

function swept(tasks: DagTask[], script: number[]): string[][] {
  const waiting = new Set(tasks)
  const done = new Set<string>()
  const skipped = new Set<string>()
  const turns: string[][] = []
  const open: string[] = []
  const turn = () => {
    const taken: string[] = []
    for (let moved = true; moved; ) {
      moved = false
      for (const task of [...waiting]) {
        const needs = needsOf(task)
        const isSkipped = needs.some((need) => skipped.has(need))
        if (!isSkipped && !needs.every((need) => done.has(need))) continue
        waiting.delete(task)
        moved = true
        const what = isSkipped ? 'skipped' : fate(script[tasks.indexOf(task)]!)
        taken.push(`${task.id} ${what}`)
        if (what === 'later') open.push(task.id)
        else (what === 'skipped' ? skipped : done).add(task.id)
      }
    }
    turns.push(taken)
  }
  turn()
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    done.add(id)
    turn()
  }
  return turns
}
