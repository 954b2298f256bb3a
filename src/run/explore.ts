/**
 * Walks the branches of a plan: the program runs again and again with other arguments and other results, chosen such that its
 * conditions turn. Nothing is called and nothing is recorded but the outcome; the same plan is always walked in the same order.
 */
import { fitsOutput } from '#catalog'
import { isObject, type Json, limits, type Tool, toText } from '#model'
import { spotAt } from './check-types.ts'
import { Coverage } from './explore-cover.ts'
import { type Answer, type Assumed, type MadeCall, type Played, play, type Stage } from './explore-play.ts'
import { type Exploration, pathOf, type Told, tell } from './explore-tell.ts'
import { changed, type Variation, variationsOf } from './explore-vary.ts'
import { sampleOf } from './sample.ts'
import type { StructureNode, Test } from './structure/structure.ts'

export type Plot = Stage & {
  args: Json
  maxBranches: number
  /** What a program may do, by its code; null is the plan itself. */
  structureOf(code: string | null): StructureNode[]
  /** Whether everything that was asked of so far could be read. */
  isRead(): boolean
  /** Where a graph's own conditions went, which no program tells. */
  withArms(played: Played): Played
}

/** Along a path of assumptions nothing is assumed twice: what was varied keeps its value further on. */
type Try = { assumed: Assumed; varied: ReadonlySet<string> }

export async function explore(plot: Plot): Promise<Exploration> {
  const { maxBranches, args } = plot
  const first: Try = { assumed: { args, calls: new Map() }, varied: new Set() }
  const [urgent, others]: [Try[], Try[]] = [[first], []]
  const known = new Set<string>()
  const tried = new Set<string>()
  const covered = new Coverage()
  const found: Told[] = []
  let tries = 0
  while (found.length < maxBranches && tries < maxBranches * limits.exploreTriesPerBranch) {
    const next = urgent.shift() ?? others.shift()
    if (next === undefined) break
    tries += 1
    const played = plot.withArms(await play(plot, next.assumed))
    const key = keyOf(played)
    const isNew = !known.has(key)
    if (isNew) found.push(pathOf(plot, played, next.assumed))
    known.add(key)
    covered.note(played)
    for (const { attempt, isOpen } of await furtherTries(plot, next, played, covered)) {
      const text = toText([attempt.assumed.args, [...attempt.assumed.calls]])
      if (tried.has(text)) continue
      tried.add(text)
      const queue = isNew || isOpen ? urgent : others
      queue.push(attempt)
    }
  }
  const uncovered = covered.uncovered(plot.structureOf)
  return tell(found, uncovered, urgent.length + others.length === 0 && plot.isRead())
}

const armKey = ({ program, id, arm }: { program: string; id: string; arm: string }) => `${program} ${id} ${arm}`

/** Two runs are one path when they take the same arms, call the same tools in the same order, and end alike. */
function keyOf({ steps, end }: Played): string {
  const said = steps.map((step) => ('arm' in step ? armKey(step.arm) : step.calls.map(({ tool }) => tool).join('+')))
  return toText([said, end.ok ? 'ok' : end.error.code])
}

type Further = { attempt: Try; isOpen: boolean }

/** Each condition that this path came by, answered in another way. */
async function furtherTries(plot: Plot, from: Try, played: Played, covered: Coverage): Promise<Further[]> {
  const seats = new Map<string, string | null>([['', null]])
  for (const { id, code } of played.calls) if (code !== undefined) seats.set(id, code)
  const found: Further[] = []
  for (const [program, code] of seats) {
    const nodes = plot.structureOf(code)
    for (const node of nodes) {
      if (!('tests' in node) || !isReached(node, program, played)) continue
      const isOpen = node.kind === 'branch' && !covered.isWhole(code, node)
      for (const test of node.tests) {
        for (const attempt of await variedTries(plot, from, played, { test, program, nodes }))
          found.push({ attempt, isOpen })
      }
    }
  }
  return found.sort((a, b) => Number(b.isOpen) - Number(a.isOpen))
}

/** A branch that says which arm it takes was reached when it said so; a program that broke may have done so in its condition. */
function isReached(node: StructureNode, program: string, { steps, end }: Played): boolean {
  if (node.kind !== 'branch' || node.form === 'switch' || node.form === 'try') return true
  if (!end.ok && end.error.code === 'PROGRAM_ERROR') return true
  return steps.some((step) => 'arm' in step && step.arm.program === program && step.arm.id === node.id)
}

type Asked = { test: Test; program: string; nodes: StructureNode[] }

async function variedTries(plot: Plot, from: Try, { calls }: Played, asked: Asked): Promise<Try[]> {
  const { test, program, nodes } = asked
  if (test.of === 'args') return program === '' ? variedArguments(from, test) : []
  const site = nodes.find(({ id }) => id === test.of)
  const tools = site?.kind === 'call' ? site.tools : []
  const made = calls.filter(
    (call) => call.program === program && (call.task ?? site?.id) === (site?.id ?? test.of) && fits(call, tools),
  )
  const tries: Try[] = []
  for (const call of made.slice(0, limits.exploreCallsPerPlaceMax)) {
    const tool = await plot.catalog.tool(call.tool)
    tries.push(...variedResult(from, call, test, tool))
  }
  return tries
}

function fits({ tool }: MadeCall, tools: string[]): boolean {
  return tools.length === 0 || tools.includes(tool)
}

function variedArguments({ assumed, varied }: Try, { path, asks }: Test): Try[] {
  const variations = variationsOf(path, asks, assumed.args, () => undefined)
  return variations.flatMap((variation) => {
    if ('failure' in variation) return []
    const key = `args ${variation.path}`
    if (varied.has(key)) return []
    const args = changed(assumed.args, variation.path, variation.value)
    return [{ assumed: { ...assumed, args }, varied: new Set([...varied, key]) }]
  })
}

function variedResult({ assumed, varied }: Try, call: MadeCall, { path, asks }: Test, tool: Tool | undefined): Try[] {
  const schema = tool?.output ?? tool?.observed ?? {}
  const sampleAt = (at: string) => {
    const spot = spotAt({ schema, root: schema }, at.replaceAll('/*', '/0')).schema
    return isObject(spot) && Object.keys(spot).length > 0 ? sampleOf(spot as Json, schema as Json) : undefined
  }
  return variationsOf(path, asks, call.value, sampleAt).flatMap((variation) => {
    const key = keyOfVariation(call.id, variation)
    const isSettled = varied.has(key) || varied.has(`${call.id} failure`)
    if (isSettled) return []
    const answer = answerOf(call, variation)
    if (breaksSchema(tool, call, answer)) return []
    const calls = new Map(assumed.calls).set(call.id, answer)
    return [{ assumed: { ...assumed, calls }, varied: new Set([...varied, key]) }]
  })
}

/** A path that only an answer against the tool's own schema leads into is no path. */
function breaksSchema(tool: Tool | undefined, { value }: MadeCall, answer: Answer): boolean {
  if (tool?.output === undefined || 'failure' in answer) return false
  return fitsOutput(tool, value ?? null) && !fitsOutput(tool, answer.value)
}

function keyOfVariation(id: string, variation: Variation): string {
  return 'failure' in variation ? `${id} failure` : `${id} ${variation.path}`
}

function answerOf({ value, tool }: MadeCall, variation: Variation): Answer {
  if ('failure' in variation) return { failure: `${tool} was assumed to fail` }
  return { value: changed(value, variation.path, variation.value) }
}
