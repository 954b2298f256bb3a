/** What to assume next: every condition that a path met, answered in another way. */
import { fitsOutput } from '#catalog'
import { isObject, type Json, limits, type Tool } from '#model'
import { sampleOf, spotAt } from '#run/schema'
import type { StructureNode, Test } from '#run/structure'
import type { Coverage } from './coverage.ts'
import type { AssumedResult, Assumptions, PathCall, PathRun } from './run-path.ts'
import { changed, type Variation, variationsOf } from './vary-value.ts'

/**
 * `varied` names what was assumed on the way here: a value is varied once, and kept by every
 * attempt that follows.
 */
export type Attempt = { assumed: Assumptions; varied: ReadonlySet<string> }

/** `isOpen`: it may lead into an arm that no path took yet. */
type NextAttempt = { attempt: Attempt; isOpen: boolean }

type Plan = {
  toolOf(id: string): Promise<Tool | undefined>
  structureOf(code: string | null): StructureNode[]
}

export async function furtherAttempts(
  plan: Plan,
  from: Attempt,
  run: PathRun,
  coverage: Coverage,
): Promise<NextAttempt[]> {
  const programs = new Map<string, string | null>([['', null]])
  for (const { id, code } of run.calls) if (code !== undefined) programs.set(id, code)
  const found: NextAttempt[] = []
  for (const [program, code] of programs) {
    const nodes = plan.structureOf(code)
    for (const node of nodes) {
      if (!('tests' in node) || !isReached(node, program, run)) continue
      const isOpen = node.kind === 'branch' && !coverage.isCovered(code, node)
      for (const test of node.tests) {
        for (const attempt of await variedAttempts(plan, from, run, { test, program, nodes }))
          found.push({ attempt, isOpen })
      }
    }
  }
  return found.sort((a, b) => Number(b.isOpen) - Number(a.isOpen))
}

/**
 * A branch that logs which arm it takes was reached when it did; one whose condition threw logs
 * nothing, so after a program error every branch counts.
 */
function isReached(node: StructureNode, program: string, { steps, end }: PathRun): boolean {
  if (node.kind !== 'branch' || node.form === 'switch' || node.form === 'try') return true
  if (!end.ok && end.error.code === 'PROGRAM_ERROR') return true
  return steps.some((step) => 'arm' in step && step.arm.program === program && step.arm.id === node.id)
}

type TestSite = { test: Test; program: string; nodes: StructureNode[] }

async function variedAttempts(plan: Plan, from: Attempt, { calls }: PathRun, site: TestSite): Promise<Attempt[]> {
  const { test, program, nodes } = site
  if (test.of === 'args') return program === '' ? variedArguments(from, test) : []
  const node = nodes.find(({ id }) => id === test.of)
  const tools = node?.kind === 'call' ? node.tools : []
  const candidates = calls.filter(
    (call) =>
      call.program === program &&
      (call.task ?? node?.id) === (node?.id ?? test.of) &&
      (tools.length === 0 || tools.includes(call.tool)),
  )
  const attempts: Attempt[] = []
  for (const call of candidates.slice(0, limits.exploreCallsPerPlaceMax)) {
    const tool = await plan.toolOf(call.tool)
    attempts.push(...variedResult(from, call, test, tool))
  }
  return attempts
}

function variedArguments({ assumed, varied }: Attempt, { path, asks }: Test): Attempt[] {
  const variations = variationsOf(path, asks, assumed.args, () => undefined)
  return variations.flatMap((variation) => {
    if ('failure' in variation) return []
    const key = `args ${variation.path}`
    if (varied.has(key)) return []
    const args = changed(assumed.args, variation.path, variation.value)
    return [{ assumed: { ...assumed, args }, varied: new Set([...varied, key]) }]
  })
}

function variedResult(
  { assumed, varied }: Attempt,
  call: PathCall,
  { path, asks }: Test,
  tool: Tool | undefined,
): Attempt[] {
  const schema = tool?.output ?? tool?.observed ?? {}
  const sampleAt = (at: string) => {
    const found = spotAt({ schema, root: schema }, at.replaceAll('/*', '/0')).schema
    return isObject(found) && Object.keys(found).length > 0 ? sampleOf(found as Json, schema as Json) : undefined
  }
  return variationsOf(path, asks, call.value, sampleAt).flatMap((variation) => {
    const key = variationKey(call.id, variation)
    const isSettled = varied.has(key) || varied.has(`${call.id} failure`)
    if (isSettled) return []
    const result = assumedResult(call, variation)
    if (breaksSchema(tool, call, result)) return []
    const calls = new Map(assumed.calls).set(call.id, result)
    return [{ assumed: { ...assumed, calls }, varied: new Set([...varied, key]) }]
  })
}

/** The tool could never return it, so no run can take a path that depends on it. */
function breaksSchema(tool: Tool | undefined, { value }: PathCall, result: AssumedResult): boolean {
  if (tool?.output === undefined || 'failure' in result) return false
  return fitsOutput(tool, value ?? null) && !fitsOutput(tool, result.value)
}

function variationKey(id: string, variation: Variation): string {
  return 'failure' in variation ? `${id} failure` : `${id} ${variation.path}`
}

function assumedResult({ value, tool }: PathCall, variation: Variation): AssumedResult {
  if ('failure' in variation) return { failure: `${tool} was assumed to fail` }
  return { value: changed(value, variation.path, variation.value) }
}
