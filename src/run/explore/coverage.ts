/** Branch coverage over all paths: which arms were taken, and which by none. */
import { limits } from '#model'
import type { StructureNode } from '#run/structure'
import { reasonFor } from './path-report.ts'
import type { PathRun } from './run-path.ts'

type StructureOf = (code: string | null) => StructureNode[]

export class Coverage {
  /** Arms by the code that holds them, since one program may run as many calls. */
  readonly #taken = new Map<string | null, Set<string>>([[null, new Set()]])

  add({ steps, calls }: PathRun): void {
    const codes = new Map(calls.flatMap(({ id, code }) => (code === undefined ? [] : [[id, code] as const])))
    for (const code of codes.values()) if (!this.#taken.has(code)) this.#taken.set(code, new Set())
    for (const step of steps) {
      if ('arm' in step) this.#taken.get(codes.get(step.arm.program) ?? null)!.add(`${step.arm.id} ${step.arm.arm}`)
    }
  }

  /** Whether every arm that logs itself was taken. */
  isCovered(code: string | null, node: StructureNode): boolean {
    return this.#missing(code, node).length === 0
  }

  /** Arms that no path took, in words; an arm inside such an arm is left out. */
  uncovered(structureOf: StructureOf): string[] {
    const found = [...this.#taken.keys()].flatMap((code) => {
      const nodes = structureOf(code)
      const missing = new Map(nodes.map((node) => [node.id, this.#missing(code, node)]))
      const isWithinMissing = ({ within, arm }: StructureNode): boolean => {
        const parent = nodes.find(({ id }) => id === within)
        if (parent === undefined) return false
        const arms = missing.get(parent.id)!
        return arms.includes(parent.kind === 'loop' ? 'some' : (arm ?? '')) || isWithinMissing(parent)
      }
      return nodes.flatMap((node) =>
        isWithinMissing(node)
          ? []
          : missing
              .get(node.id)!
              .map((arm) => reasonFor(node, arm))
              .filter((reason) => reason !== null),
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

/**
 * The arms that log themselves. The handler of a `try` counts only where no call in it can be made
 * to fail: otherwise its failure is assumed on a path anyway.
 */
function armsOf(node: StructureNode): { name: string; at: number }[] {
  if (node.kind === 'loop') return node.line === 0 ? [] : [{ name: 'some', at: 0 }]
  if (node.kind !== 'branch') return []
  const arms = node.arms.map((name, at) => ({ name, at }))
  if (node.form === 'switch') return arms.filter(({ name }) => name !== 'none')
  if (node.form !== 'try') return arms
  const canFail = node.tests.some(({ asks }) => asks.kind === 'failure')
  return arms.filter(({ name }) => name === 'catch' && !canFail)
}
