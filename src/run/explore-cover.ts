/** Which arms of a plan's branches some path took, and which none did. */
import { limits } from '#model'
import type { Played } from './explore-play.ts'
import { reasonFor } from './explore-tell.ts'
import type { StructureNode } from './structure/structure.ts'

type StructureOf = (code: string | null) => StructureNode[]

export class Coverage {
  /** By the code that holds the branch: a program may run many times, as many calls. */
  readonly #taken = new Map<string | null, Set<string>>([[null, new Set()]])

  note({ steps, calls }: Played): void {
    const codes = new Map(calls.flatMap(({ id, code }) => (code === undefined ? [] : [[id, code] as const])))
    for (const code of codes.values()) if (!this.#taken.has(code)) this.#taken.set(code, new Set())
    for (const step of steps) {
      if ('arm' in step) this.#taken.get(codes.get(step.arm.program) ?? null)!.add(`${step.arm.id} ${step.arm.arm}`)
    }
  }

  /** Whether every arm of it was taken, as far as arms tell. */
  isWhole(code: string | null, node: StructureNode): boolean {
    return this.#missing(code, node).length === 0
  }

  /** What no path led into, in words; not what stands inside of that. */
  uncovered(structureOf: StructureOf): string[] {
    const found = [...this.#taken.keys()].flatMap((code) => {
      const nodes = structureOf(code)
      const missing = new Map(nodes.map((node) => [node.id, this.#missing(code, node)]))
      const isInside = ({ within, arm }: StructureNode): boolean => {
        const around = nodes.find(({ id }) => id === within)
        if (around === undefined) return false
        const gone = missing.get(around.id)!
        return gone.includes(around.kind === 'loop' ? 'some' : (arm ?? '')) || isInside(around)
      }
      return nodes.flatMap((node) =>
        isInside(node)
          ? []
          : missing
              .get(node.id)!
              .map((arm) => reasonFor(node, arm))
              .filter((said) => said !== null),
      )
    })
    return [...new Set(found)].slice(0, limits.exploreUncoveredMax)
  }

  #missing(code: string | null, node: StructureNode): string[] {
    const taken = this.#taken.get(code)
    return armsOf(node).flatMap(({ name, at }) =>
      taken?.has(`${node.id} ${name}`) || taken?.has(`${node.id} #${at}`) ? [] : [name],
    )
  }
}

/** Those that say when they are taken. What is tried and can be made to fail is made to, also where its handler says nothing. */
function armsOf(node: StructureNode): { name: string; at: number }[] {
  if (node.kind === 'loop') return node.line === 0 ? [] : [{ name: 'some', at: 0 }]
  if (node.kind !== 'branch') return []
  const arms = node.arms.map((name, at) => ({ name, at }))
  if (node.form === 'switch') return arms.filter(({ name }) => name !== 'none')
  if (node.form !== 'try') return arms
  const canFail = node.tests.some(({ asks }) => asks.kind === 'failure')
  return arms.filter(({ name }) => name === 'catch' && !canFail)
}
