/**
 * What the tasks of a graph gave: kept as the text that came, and read only where another task
 * takes something from it.
 */
import type { Json } from '#model'

export class TaskResults {
  readonly #texts = new Map<string, string>()
  readonly #read = new Map<string, Json>()

  get size(): number {
    return this.#texts.size
  }

  set(task: string, text: string): void {
    this.#texts.set(task, text)
  }

  has(task: string): boolean {
    return this.#texts.has(task)
  }

  get(task: string): Json | undefined {
    const text = this.#texts.get(task)
    if (text === undefined) return undefined
    if (!this.#read.has(task)) this.#read.set(task, JSON.parse(text) as Json)
    return this.#read.get(task)
  }

  text(task: string): string | undefined {
    return this.#texts.get(task)
  }

  /** One object with the results of these tasks, its keys in the order that JSON gives them. */
  textOf(tasks: string[]): string {
    const keys = Object.keys(Object.fromEntries(tasks.map((task) => [task, null])))
    return `{${keys.map((task) => `${JSON.stringify(task)}:${this.#texts.get(task)!}`).join(',')}}`
  }
}
