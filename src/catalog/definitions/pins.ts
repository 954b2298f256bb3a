/**
 * Tools are pinned as they were first seen: what became of them since is read from the home's
 * chain, and decided here.
 */

import { redact } from '#catalog/tool-server'
import {
  AppError,
  type Effect,
  type Event,
  isObject,
  isReadOnly,
  type JsonObject,
  limits,
  type Tool,
  type ToolDiff,
} from '#model'
import { applyDiff, diffOf } from './diff.ts'

type PinType = 'tool.pinned' | 'tool.changed' | 'tool.accepted'
export type PinEvent = { [Type in PinType]: Pick<Event<Type>, 'type' | 'body'> }[PinType]

type RecordedPin = PinEvent & { n: number }

/** One event of the chain. A chain that still has it has everything that was written before it. */
export type PinAnchor = { type: PinType; n: number; hash: string }

/** Where the events of pins are kept. */
export type PinRecord = {
  /** In the order of the chain, those after its n-th event. */
  read(after: number): RecordedPin[]
  /** The same of one tool. */
  readOf(tool: string, after: number): RecordedPin[]
  /** The newest of them; null where there is none. */
  anchor(): PinAnchor | null
  holds(anchor: PinAnchor): boolean
  append(events: readonly PinEvent[]): Promise<void>
}

/** A definition that holds, and the last other one that was seen. */
type Pin = { digest: string; definition: JsonObject; changed: { digest: string; diff: ToolDiff } | null }

/**
 * Of two that pinned at the same time the first counts; only the change that was seen last can be
 * accepted.
 */
function foldPin(pin: Pin | undefined, { type, body }: PinEvent): Pin | undefined {
  switch (type) {
    case 'tool.pinned':
      return pin ?? { digest: body.digest, definition: applyDiff({}, body.diff), changed: null }
    case 'tool.changed':
      return pin && { ...pin, changed: { digest: body.digest, diff: body.diff } }
    case 'tool.accepted':
      if (pin?.changed?.digest !== body.digest) return pin
      return { digest: body.digest, definition: applyDiff(pin.definition, pin.changed.diff), changed: null }
  }
}

type PinsOptions = {
  record: PinRecord
  /** The class that a tool would have with these annotations. */
  effectOf: (tool: Tool, annotations: JsonObject) => Effect
  /** Values that must not stand in the record. */
  secrets: readonly string[]
}

/** How far the pin of one tool was read: up to the n-th event of the chain. */
type ReadPin = { pin: Pin | undefined; n: number }

/**
 * Reads the pins of single tools by an index of the record, and all of them in one go where many
 * are asked for: a process that calls one of 50,000 tools reads the pin of one.
 */
export class Pins {
  readonly #options: PinsOptions
  readonly #pins = new Map<string, ReadPin>()
  /** Up to which event the pins of all tools were read; -1 before that. */
  #n = -1
  #singleReads = 0
  #seeing = Promise.resolve()

  constructor(options: PinsOptions) {
    this.#options = options
  }

  /** Puts on the record what is new and what is not as it was; resolves when that is durable. */
  observe(tools: readonly Tool[]): Promise<void> {
    const look = async () => {
      this.#refresh(tools.map(({ id }) => id))
      const events = tools.flatMap((tool) => this.#eventOf(tool) ?? [])
      await this.#append(events)
    }
    const seen = this.#seeing.then(look)
    this.#seeing = seen.catch(() => {})
    return seen
  }

  /** Where the record stands: what was seen before is on it for as long as it `holds` this. */
  anchor(): PinAnchor | null {
    return this.#options.record.anchor()
  }

  holds(anchor: PinAnchor): boolean {
    return this.#options.record.holds(anchor)
  }

  /** How a tool differs from what is pinned; null where it does not. */
  changeOf(tool: Tool): ToolDiff | null {
    const pin = this.#pinOf(tool.id)
    return pin === undefined || pin.digest === tool.digest ? null : this.#diff(pin, tool)
  }

  /** The definition that holds; empty where there is none. */
  acceptedOf({ id }: Tool): JsonObject {
    return this.#pinOf(id)?.definition ?? {}
  }

  isPinned({ id, digest }: Tool): boolean {
    return this.#pinOf(id)?.digest === digest
  }

  /** What changed and can do harm, or could before, is not called until a human has accepted it. */
  problemOf(tool: Tool): AppError | null {
    if (this.#isFine(tool)) return null
    // It may have been accepted meanwhile, in another process.
    this.#readOne(tool.id)
    return this.#isFine(tool) ? null : toolChanged(tool, this.changeOf(tool) ?? [])
  }

  async accept(tool: Tool, who: string): Promise<ToolDiff> {
    await this.observe([tool])
    const diff = this.changeOf(tool)
    if (diff === null) return []
    await this.#append([{ type: 'tool.accepted', body: { tool: tool.id, digest: tool.digest, who } }])
    if (!this.isPinned(tool)) throw toolChanged(tool, this.changeOf(tool) ?? [])
    return diff
  }

  #isFine(tool: Tool): boolean {
    const pin = this.#pinOf(tool.id)
    if (pin === undefined || pin.digest === tool.digest) return true
    const { annotations } = pin.definition
    const before = this.#options.effectOf(tool, isObject(annotations) ? (annotations as JsonObject) : {})
    return isReadOnly(tool.effect) && isReadOnly(before)
  }

  #eventOf(tool: Tool): PinEvent | null {
    const pin = this.#pinOf(tool.id)
    const { id, digest } = tool
    if (pin === undefined) {
      return { type: 'tool.pinned', body: { tool: id, digest, diff: diffOf({}, this.#definitionOf(tool)) } }
    }
    if (pin.digest === digest || pin.changed?.digest === digest) return null
    return { type: 'tool.changed', body: { tool: id, digest, diff: this.#diff(pin, tool) } }
  }

  #diff(pin: Pin, tool: Tool): ToolDiff {
    return diffOf(pin.definition, this.#definitionOf(tool))
  }

  #definitionOf({ description, input, output, annotations }: Tool): JsonObject {
    const definition = { description, input, ...(output === undefined ? {} : { output }), annotations }
    return redact<JsonObject>(definition, this.#options.secrets)
  }

  async #append(events: PinEvent[]): Promise<void> {
    if (events.length === 0) return
    await this.#options.record.append(events)
    this.#refresh(events.map(({ body }) => body.tool))
  }

  /** As it was when it was read last. */
  #pinOf(id: string): Pin | undefined {
    if (this.#n < 0 && !this.#pins.has(id)) this.#refresh([id])
    return this.#pins.get(id)?.pin
  }

  /** What others wrote meanwhile about these tools. */
  #refresh(ids: readonly string[]): void {
    this.#singleReads += ids.length
    if (this.#n >= 0 || this.#singleReads > limits.pinSingleReadsMax) this.#readAll()
    else for (const id of ids) this.#readOne(id)
  }

  #readOne(id: string): void {
    const { pin, n } = this.#pins.get(id) ?? { pin: undefined, n: Math.max(0, this.#n) }
    this.#pins.set(id, this.#options.record.readOf(id, n).reduce(foldRead, { pin, n }))
  }

  #readAll(): void {
    for (const event of this.#options.record.read(Math.max(0, this.#n))) {
      const read = this.#pins.get(event.body.tool) ?? { pin: undefined, n: 0 }
      if (event.n > read.n) this.#pins.set(event.body.tool, foldRead(read, event))
      this.#n = event.n
    }
    this.#n = Math.max(0, this.#n)
  }
}

function foldRead({ pin }: ReadPin, event: RecordedPin): ReadPin {
  return { pin: foldPin(pin, event), n: event.n }
}

/**
 * Agents read it, so nothing in it is the server's word: not what is new, and no name of a
 * parameter. A human is told where to look.
 */
function toolChanged({ id: tool, server }: Tool, diff: ToolDiff): AppError {
  const parts = [...new Set(diff.map(({ field }) => field.split('/')[1]!))]
  const message = `Cannot call "${tool}": its definition is not the accepted one any more (${parts.join(', ')}); a human sees with "metier tools ${server}" what changed, and accepts it with "metier accept ${tool}"`
  return new AppError('TOOL_CHANGED', message, { tool, parts })
}
