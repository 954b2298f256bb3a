/**
 * The conditions of a graph of tasks as branches and loops of a structure, and the arms that a path
 * took at them.
 */
import { type DagTask, toText } from '#model'
import type { BranchNode, LoopNode, Question, StructureNode } from '#run/structure'
import type { PathRun, PathStep } from './run-path.ts'

/** A graph has no source text: line 0 is no line. */
const noPosition = { line: 0, column: 0, within: null }

export function conditionNodes(tasks: DagTask[]): StructureNode[] {
  return tasks.flatMap(({ id, when, forEach }): StructureNode[] => {
    const nodes: StructureNode[] = []
    if (when !== undefined) {
      const asks: Question = when.exists === undefined ? { kind: 'equal', to: when.equals ?? null } : { kind: 'there' }
      const condition = `task "${id}" when ${toText(when)}`
      const tests = [{ of: when.$from, path: when.path ?? '', asks }]
      nodes.push({
        ...noPosition,
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
      nodes.push({ ...noPosition, id: `each ${id}`, kind: 'loop', form: 'for-of', tests } satisfies LoopNode)
    }
    return nodes
  })
}

const whenOf = (id: string) => `when ${id}`

/**
 * A condition counts as true where its task was called, and as false where it was not, also when a
 * task that it depends on was skipped.
 */
export function withConditionArms(tasks: DagTask[], run: PathRun): PathRun {
  const arm = (id: string, name: string): PathStep => ({ arm: { program: '', id: whenOf(id), arm: name } })
  const wanted = tasks.filter(({ when }) => when !== undefined).map(({ id }) => id)
  const made = new Set(run.calls.flatMap(({ program, task }) => (program === '' && task !== undefined ? [task] : [])))
  const steps = run.steps.flatMap((step): PathStep[] => {
    if (!('calls' in step)) return [step]
    const conditional = wanted.filter((id) => step.calls.some(({ program, task }) => program === '' && task === id))
    return [...conditional.map((id) => arm(id, 'then')), step]
  })
  return { ...run, steps: [...steps, ...wanted.filter((id) => !made.has(id)).map((id) => arm(id, 'else'))] }
}
