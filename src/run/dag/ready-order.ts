/**
 * In which order the tasks of a graph become ready: each is looked at when the last of what it
 * needs is over, not in every turn.
 */
import type { DagTask } from '#model'
import { needsOf } from './check-dag.ts'

type Node = { task: DagTask; place: number; missing: number; isSkipped: boolean; isReady: boolean; dependents: Node[] }

type ReadyTask = { task: DagTask; isSkipped: boolean }

/** A graph's calls are numbered by it, so the order is part of what replay relies on. */
export class Order {
  readonly #nodes: Map<string, Node>
  /** By place, ascending. */
  readonly #ready: Node[] = []
  /**
   * Ready tasks are taken in the order of the list, from here to its end, then from its start
   * again.
   */
  #from = 0

  constructor(tasks: DagTask[]) {
    this.#nodes = new Map(tasks.map((task, place) => [task.id, newNode(task, place)]))
    for (const node of this.#nodes.values()) this.#connect(node)
  }

  #connect(node: Node): void {
    const needs = needsOf(node.task)
    node.missing = needs.length
    for (const need of needs) this.#nodes.get(need)!.dependents.push(node)
    if (needs.length === 0) this.#add(node)
  }

  isNeeded(id: string): boolean {
    return this.#nodes.get(id)!.dependents.length > 0
  }

  /** A task has its result, or was skipped, and so are those that need it. */
  over(id: string, isSkipped: boolean): void {
    for (const node of this.#nodes.get(id)!.dependents) {
      node.missing -= 1
      node.isSkipped ||= isSkipped
      if (node.missing === 0 || node.isSkipped) this.#add(node)
    }
  }

  next(): ReadyTask | null {
    if (this.#ready.length === 0) {
      this.#from = 0
      return null
    }
    const found = placeFor(this.#ready, this.#from)
    const [node] = this.#ready.splice(found === this.#ready.length ? 0 : found, 1)
    this.#from = node!.place + 1
    return node!
  }

  #add(node: Node): void {
    if (node.isReady) return
    node.isReady = true
    this.#ready.splice(placeFor(this.#ready, node.place), 0, node)
  }
}

function newNode(task: DagTask, place: number): Node {
  return { task, place, missing: 0, isSkipped: false, isReady: false, dependents: [] }
}

/** Where the first node at or after this place stands. */
function placeFor(nodes: Node[], place: number): number {
  let low = 0
  let high = nodes.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (nodes[middle]!.place < place) low = middle + 1
    else high = middle
  }
  return low
}
