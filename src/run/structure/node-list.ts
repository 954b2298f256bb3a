/**
 * The nodes of a structure as they are found: each gets its id at once, and what refers to other
 * nodes when all have theirs.
 */
import type { AnyNode } from 'acorn'
import { limits, pointerOf } from '#model'
import type { RawTest } from './conditions.ts'
import type { Handed, Source, StructureNode, Test } from './node.ts'
import type { Origin } from './origins.ts'
import { eachChild, type Syntax } from './syntax.ts'

/** Where in the structure something stands. */
export type Around = { within: string | null; arm?: string }
/** The members that a node of its kind has beside its place. */
type Own<Kind> = Kind extends StructureNode ? Omit<Kind, 'id' | 'line' | 'column' | 'within' | 'arm'> : never

export class NodeList {
  readonly nodes: StructureNode[] = []
  isWhole = true
  /** Done when every call has its id. */
  readonly later: (() => void)[] = []
  readonly #placeOf: Syntax['placeOf']
  readonly #ids = new Map<AnyNode, string>()
  readonly #handed: Handed[] = []
  #looks = 0

  constructor({ placeOf }: Syntax) {
    this.#placeOf = placeOf
  }

  close(): { nodes: StructureNode[]; handed: Handed[]; isWhole: boolean; ids: ReadonlyMap<AnyNode, string> } {
    for (const fill of this.later) fill()
    const isWhole = this.isWhole && this.#looks <= limits.structureStepsMax
    return { nodes: this.nodes, handed: this.#handed, ids: this.#ids, isWhole }
  }

  handOn(at: AnyNode, tools: string[]): void {
    if (this.#handed.length >= limits.structureNodesMax) this.isWhole = false
    else this.#handed.push({ tools, line: this.#placeOf(at.start).line })
  }

  /** Null where there is no more room. */
  add<Kind extends StructureNode>(at: AnyNode, around: Around, own: Own<Kind>): string | null {
    if (this.nodes.length >= limits.structureNodesMax) {
      this.isWhole = false
      return null
    }
    const id = `${own.kind[0]}${this.nodes.length + 1}`
    this.nodes.push({ id, ...this.#placeOf(at.start), ...around, ...own } as StructureNode)
    this.#ids.set(at, id)
    return id
  }

  /** Gives the node that was added last what is asked of values there. */
  fill(id: string | null, tests: () => RawTest[]): void {
    if (id === null) return
    const node = this.nodes.at(-1)!
    this.later.push(() => {
      if ('tests' in node) node.tests = this.#named(tests())
    })
  }

  /** Every call below may fail. */
  failures(node: AnyNode): RawTest[] {
    const found: RawTest[] = []
    const look = (here: AnyNode): void => {
      this.#looks += 1
      if (this.#looks > limits.structureStepsMax) return
      if (this.#ids.get(here)?.startsWith('c') === true)
        found.push({ origin: { kind: 'call', call: here, path: [], exact: true }, asks: { kind: 'failure' } })
      eachChild(here, (child) => look(child))
    }
    look(node)
    return found
  }

  #named(tests: RawTest[]): Test[] {
    const named = tests.flatMap(({ origin, asks }): Test[] => {
      const of = origin.kind === 'args' ? 'args' : origin.kind === 'call' ? this.#ids.get(origin.call) : undefined
      return of === undefined ? [] : [{ of, path: pointerOf(origin.path), asks }]
    })
    return [...new Map(named.map((test) => [JSON.stringify(test), test])).values()].slice(0, limits.structureTestsMax)
  }

  sourceOf(origin: Origin): Source | null {
    const { exact } = origin
    if (origin.kind === 'args') return { kind: 'args', path: pointerOf(origin.path), exact }
    if (origin.kind === 'literal') return { kind: 'literal', value: origin.value, ...this.#placeOf(origin.at), exact }
    const node = this.#ids.get(origin.call)
    return node === undefined ? null : { kind: 'call', node, path: pointerOf(origin.path), exact }
  }
}
