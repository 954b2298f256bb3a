/**
 * The conversations with one server, one for each set of abilities that clients have: a server may
 * only ask what they can answer.
 */
import type { ClientCapabilities } from '@modelcontextprotocol/server'
import { AppError, limits, toText } from '#model'
import type { ClientConversation, ServerNotification, Verbs } from '#verbs'

type Options = {
  verbs: Pick<Verbs, 'passthrough'>
  name: string
  shared: boolean
  heard: (notification: ServerNotification) => void
}

export class ConversationPool {
  readonly #options: Options
  /** In the order of their last use. */
  #open: { key: string; passage: ClientConversation }[] = []

  constructor(options: Options) {
    this.#options = options
  }

  /** The most recently used of those that are free; else a new one, while there is room. */
  of(can: ClientCapabilities): ClientConversation {
    const capabilities = this.#options.verbs.passthrough.passableCapabilities(can)
    const key = toText(capabilities)
    const same = this.#open.filter((known) => known.key === key)
    const free = same.findLast(({ passage }) => !passage.isTaken)
    const chosen = free ?? (this.#hasRoom() ? this.#begin(key, capabilities) : this.#share(same))
    this.#open = [...this.#open.filter((known) => known !== chosen), chosen]
    return chosen.passage
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = []
    await Promise.all(open.map(({ passage }) => passage.close()))
  }

  #begin(key: string, capabilities: ClientCapabilities) {
    const { verbs, name, shared, heard } = this.#options
    return { key, passage: verbs.passthrough.passage(name, { capabilities, shared, heard }) }
  }

  /** The one that was not used for longest gives way. */
  #hasRoom(): boolean {
    if (this.#open.length < limits.passagesMax) return true
    const idle = this.#open.find(({ passage }) => passage.isIdle)
    this.#open = this.#open.filter((known) => known !== idle)
    void idle?.passage.close()
    return idle !== undefined
  }

  /**
   * The one that waited longest for an answer gives it up; where none waits, the new request waits
   * until one before it is done.
   */
  #share(same: { key: string; passage: ClientConversation }[]) {
    const { name } = this.#options
    const freed = same.find(({ passage }) => passage.giveWay()) ?? same.at(-1)
    if (freed !== undefined) return freed
    this.#open.some(({ passage }) => passage.giveWay())
    const message = `Cannot reach the server "${name}" for another kind of client: ${limits.passagesMax} conversations are in use; try again later`
    throw new AppError('BUDGET_EXCEEDED', message, { passages: limits.passagesMax })
  }
}
