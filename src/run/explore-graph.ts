/** A graph of tasks as something with branches: what its conditions ask, and where they went on a path. */
import { type DagTask, toText } from '#model'
import type { Played, Step } from './explore-play.ts'
import type { BranchNode, LoopNode, Question, StructureNode } from './structure/structure.ts'

/** They stand in no line of a text. */
const nowhere = { line: 0, column: 0, within: null }

export function graphNodes(tasks: DagTask[]): StructureNode[] {
  return tasks.flatMap(({ id, when, forEach }): StructureNode[] => {
    const nodes: StructureNode[] = []
    if (when !== undefined) {
      const asks: Question = when.exists === undefined ? { kind: 'equal', to: when.equals ?? null } : { kind: 'there' }
      const condition = `task "${id}" when ${toText(when)}`
      const tests = [{ of: when.$from, path: when.path ?? '', asks }]
      nodes.push({
        ...nowhere,
        id: whenOf(id),
        kind: 'branch',
        form: 'if',
        condition,
        arms: ['then', 'else'],
        tests,
      } satisfies BranchNode)
    }
    if (forEach !== undefined) {
      const tests = [{ of: forEach.$from, path: forEach.path ?? '', asks: { kind: 'items' as const } }]
      nodes.push({ ...nowhere, id: `each ${id}`, kind: 'loop', form: 'for-of', tests } satisfies LoopNode)
    }
    return nodes
  })
}

const whenOf = (id: string) => `when ${id}`

/** A condition was true where its task was made; what was skipped for another reason does not count. */
export function graphArms(tasks: DagTask[], played: Played): Played {
  const arm = (id: string, name: string): Step => ({ arm: { program: '', id: whenOf(id), arm: name } })
  const wanted = tasks.filter(({ when }) => when !== undefined).map(({ id }) => id)
  const made = new Set(
    played.calls.flatMap(({ program, task }) => (program === '' && task !== undefined ? [task] : [])),
  )
  const steps = played.steps.flatMap((step): Step[] => {
    if (!('calls' in step)) return [step]
    const conditional = wanted.filter((id) => step.calls.some(({ program, task }) => program === '' && task === id))
    return [...conditional.map((id) => arm(id, 'then')), step]
  })
  return { ...played, steps: [...steps, ...wanted.filter((id) => !made.has(id)).map((id) => arm(id, 'else'))] }
}
