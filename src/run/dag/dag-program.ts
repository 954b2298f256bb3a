/**
 * A graph of tasks as a program: a pure state machine that issues the calls that are ready and
 * binds results to arguments.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  AppError,
  type DagTask,
  type Delivery,
  type ErrorData,
  type IssuedCall,
  isTextDeeper,
  type Json,
  limits,
  type Program,
  type ProgramEnd,
  programTool,
  type Turn,
  timerTool,
  toText,
} from '#model'
import { bind, look, take } from './bind.ts'
import { isOperation, operationCode } from './operation-task.ts'
import { Order } from './ready-order.ts'
import { TaskResults } from './task-results.ts'

/** The program that a task is; null where it is a call of a tool. */
export function codeOf(task: DagTask): string | null {
  if (isOperation(task)) return operationCode(task)
  return task.type === 'code_execution' ? task.code! : null
}

/**
 * One call of a task; a task with forEach has several, one with retry may make each more than once.
 */
type Step = { task: DagTask; index: number; args: string; tries: number; isPause: boolean }

export function dagProgram(tasks: DagTask[]): Program {
  const graph = new Graph(tasks)
  return {
    start: async () => graph.step(() => undefined),
    deliver: async (delivery) => graph.step(() => graph.receive(delivery)),
    drop: () => graph.stop(),
  }
}

class Graph {
  readonly #tasks: DagTask[]
  readonly #order: Order
  readonly #results = new TaskResults()
  readonly #skipped = new Set<string>()
  /** Pure operations that nothing depends on, and that failed. */
  readonly #failures = new Map<string, ErrorData>()
  /** The items of a task that has several, as they come in. */
  readonly #items = new Map<string, { texts: string[]; missing: number }>()
  readonly #steps: Step[] = []
  #calls: IssuedCall[] = []
  #over = false

  constructor(tasks: DagTask[]) {
    this.#tasks = tasks
    this.#order = new Order(tasks)
  }

  stop(): void {
    this.#over = true
  }

  /** One turn: something is received, then everything that became ready is issued. */
  step(receive: () => ErrorData | undefined): Turn {
    if (this.#over) return { calls: [], logs: [] }
    this.#calls = []
    try {
      const error = receive()
      if (error !== undefined) return this.#end({ ok: false, error })
      this.#issueReady()
    } catch (error) {
      if (error instanceof AppError) return this.#end({ ok: false, error: error.toJSON() })
      throw error
    }
    const isDone = this.#results.size + this.#skipped.size + this.#failures.size === this.#tasks.length
    return isDone ? this.#end(this.#outcome()) : { calls: this.#calls, logs: [] }
  }

  /** Answers with the error that fails the graph, if it does. */
  receive({ call, ok, text }: Delivery): ErrorData | undefined {
    const step = this.#steps[call - 1]!
    if (step.isPause) return void this.#issue({ ...step, isPause: false, tries: step.tries + 1 })
    if (!ok) return this.#failed(step, JSON.parse(text) as ErrorData)
    this.#keep(step, text)
  }

  #end(end: Turn['end'] & {}): Turn {
    this.#over = true
    return { calls: this.#calls, logs: [], end }
  }

  #failed(step: Step, error: ErrorData): ErrorData | undefined {
    const { retry, id } = step.task
    if (retry === undefined || step.tries > retry.max || error.code !== 'TOOL_ERROR') {
      const failure = { ...error, context: { ...error.context, task: id } }
      if (!isOperation(step.task) || this.#order.isNeeded(id)) return failure
      return void this.#failures.set(id, failure)
    }
    const ms = (retry.backoffMs ?? 0) * 2 ** (step.tries - 1)
    this.#steps.push({ ...step, isPause: true })
    this.#calls.push({ tool: timerTool, args: toText({ ms: Math.min(ms, limits.timerMsMax) }), task: id })
  }

  #keep({ task, index }: Step, text: string): void {
    const items = this.#items.get(task.id)
    if (items === undefined) return this.#succeeded(task, text)
    items.texts[index] = text
    items.missing -= 1
    if (items.missing === 0) this.#succeeded(task, `[${items.texts.join(',')}]`)
  }

  #succeeded({ id }: DagTask, text: string): void {
    this.#results.set(id, text)
    this.#order.over(id, false)
  }

  /** A task that is skipped, or has no items, may make others ready: until nothing moves. */
  #issueReady(): void {
    for (let next = this.#order.next(); next !== null; next = this.#order.next()) {
      if (!next.isSkipped && this.#isWanted(next.task)) this.#begin(next.task)
      else {
        this.#skipped.add(next.task.id)
        this.#order.over(next.task.id, true)
      }
    }
  }

  #isWanted({ when }: DagTask): boolean {
    if (when === undefined) return true
    const value = look(when, this.#results)
    return when.exists === undefined ? isSame(value, when.equals) : (value !== undefined) === when.exists
  }

  #begin(task: DagTask): void {
    const args = task.arguments ?? {}
    if (task.forEach === undefined) {
      return this.#issue({ task, index: 0, args: boundText(task, bind(args, this.#results)), tries: 1, isPause: false })
    }
    const items = take(task.forEach, this.#results)
    if (!Array.isArray(items) || items.length > limits.taskItemsMax) throw notItems(task, items)
    this.#items.set(task.id, { texts: Array(items.length).fill('null'), missing: items.length })
    if (items.length === 0) this.#succeeded(task, '[]')
    for (const [index, item] of items.entries()) {
      this.#issue({ task, index, args: boundText(task, bind(args, this.#results, item)), tries: 1, isPause: false })
    }
  }

  #issue(step: Step): void {
    const { id, tool = programTool, timeoutMs, sideEffects, whole } = step.task
    const code = codeOf(step.task)
    this.#steps.push(step)
    this.#calls.push({
      tool: code !== null && !isOperation(step.task) ? programTool : tool,
      args: step.args,
      task: id,
      ...(code === null ? {} : { code }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(sideEffects === true ? { ask: true } : {}),
      ...(whole === true ? { whole } : {}),
    })
  }

  /**
   * The results of the tasks that nothing depends on, by id; of exactly one, its result. An
   * operation that failed alone is not among them; where nothing else is left, the graph has failed
   * with it.
   */
  #outcome(): ProgramEnd {
    const last = this.#tasks.filter(({ id }) => !this.#order.isNeeded(id))
    const done = last.map(({ id }) => id).filter((id) => this.#results.has(id))
    const [failure] = this.#failures.values()
    if (done.length === 0 && failure !== undefined) return { ok: false, error: failure }
    const [only = ''] = done
    return { ok: true, value: last.length === 1 ? (this.#results.text(only) ?? 'null') : this.#results.textOf(done) }
  }
}

/** Whatever the order of keys; both as the record has them, so that a replay finds the same. */
function isSame(value: Json | undefined, wanted: Json | undefined): boolean {
  if (value === undefined || wanted === undefined) return false
  return isDeepStrictEqual(JSON.parse(toText(value)), JSON.parse(toText(wanted)))
}

/** Results that are bound into arguments add their levels to those of the plan. */
function boundText(task: DagTask, args: Json): string {
  const text = toText(args)
  if (!isTextDeeper(text, limits.programDepthMax)) return text
  const details = `its arguments are nested more deeply than ${limits.programDepthMax} levels`
  const message = `Cannot run task "${task.id}": with what is bound into them, ${details}; bind a smaller part`
  throw new AppError('PLAN_INVALID', message, { task: task.id, depthMax: limits.programDepthMax })
}

function notItems(task: DagTask, found: Json): AppError {
  const what = Array.isArray(found)
    ? `a list of ${found.length} items, at most ${limits.taskItemsMax} are allowed`
    : 'no list'
  const message = `Cannot run task "${task.id}" for each item: ${what} stands at {"$from":"${task.forEach!.$from}"}`
  return new AppError('PLAN_INVALID', message, { task: task.id })
}
