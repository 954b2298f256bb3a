/** Flows from values on traces with known truth, beside three baselines. */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import {
  type ArgumentValue,
  argumentValuesOf,
  type FlowFeatures,
  flowsOf,
  flowWeights,
  groupsByCall,
  leavesOf,
  sharesOf,
  type Trace,
} from '#learn'
import type { Json } from '#model'
import { readLines, type Section, scoreSets } from './read.ts'

type Line = { intent?: string; calls: { id: number; tool: string; args: Json; result: Json; deps: number[] }[] }
type Case = { trace: Trace; truth: Set<string> }

/** The wrappings of one source teach the same: one of each is enough. */
const taught = ['nestful-flat', 'nestools-flat', 'nestools-mcp-text-interpolated', 'apibank']

function readTraces(folder: string): Map<string, Case[]> {
  const files = readdirSync(join(folder, 'traces')).filter((name) => name.endsWith('.jsonl'))
  return new Map(
    files.sort().map((file) => [basename(file, '.jsonl'), readLines<Line>(join(folder, 'traces', file)).map(toCase)]),
  )
}

function toCase({ intent = '', calls }: Line): Case {
  const truth = new Set(calls.flatMap(({ id, deps }) => deps.map((dep) => `${dep}>${id}`)))
  return { trace: { intent, calls: calls.map((call) => ({ ...call, id: String(call.id) })) }, truth }
}

const edgesOf = (trace: Trace) => new Set(flowsOf(trace).map(({ from, to }) => `${from.call}>${to.call}`))

function pairs({ calls }: Trace, test: (earlier: Trace['calls'][number], later: Trace['calls'][number]) => boolean) {
  return new Set(
    calls.flatMap((later, at) =>
      calls
        .slice(0, at)
        .filter((earlier) => test(earlier, later))
        .map((earlier) => `${earlier.id}>${later.id}`),
    ),
  )
}

const previousCall = ({ calls }: Trace) => new Set(calls.slice(1).map(({ id }, at) => `${calls[at]!.id}>${id}`))

/** Some leaf of a result is a leaf of the arguments. */
function leafEquality(trace: Trace) {
  return pairs(trace, (earlier, later) => {
    const given = new Set(leavesOf(later.args).map(({ identity }) => identity))
    return leavesOf(earlier.result).some(({ identity, key }) => key !== 'type' && given.has(identity))
  })
}

/** The specification's: a result's text, or a member's, stands in the text of the arguments. */
function containsValue(trace: Trace) {
  return pairs(trace, ({ result }, { args }) => {
    const text = JSON.stringify(args)
    const members = typeof result === 'object' && result !== null ? Object.values(result) : []
    return [result, ...members].some((value) => value !== undefined && text.includes(JSON.stringify(value)))
  })
}

const methods = { 'previous call': previousCall, 'leaf equality': leafEquality, 'contains value': containsValue }

export function benchFlows(folder: string): Section[] {
  const sets = readTraces(folder)
  const halves = [0, 1].map((half) => fitFlows(sets, half))
  const worst: number[] = []
  const sections = [...sets].map(([name, cases]): Section => {
    const score = (edges: (trace: Trace, at: number) => Set<string>) =>
      scoreSets(cases.map(({ trace, truth }, at) => ({ found: edges(trace, at), truth })))
    const baselines = Object.entries(methods).map(([method, edges]) => ({ name: method, figures: score(edges) }))
    const ours = score(edgesOf)
    const heldOut = score((trace, at) => edgesWith(trace, halves[1 - (at % 2)]!))
    const best = Math.max(...baselines.map(({ figures }) => figures.f1))
    if (name.includes('mcp')) worst.push(ours.f1)
    return {
      title: `flows: ${name} (${cases.length} runs)`,
      rows: [
        ...baselines,
        { name: 'ours', figures: ours },
        { name: 'ours, weights of the other half', figures: heldOut },
      ],
      bars: [{ what: 'edge F1 against the best baseline', value: ours.f1, least: best - 0.5 }],
    }
  })
  const bars = worst.length === 0 ? [] : [{ what: 'edge F1, worst MCP set', value: Math.min(...worst), least: 97 }]
  return [...sections, { title: 'flows: all sets', rows: [], bars }]
}

/** As flowsOf(), with other weights. */
function edgesWith({ calls, ...rest }: Trace, weights: Record<string, number>): Set<string> {
  const found = new Set<string>()
  const consumed = new Set<number>()
  for (const group of groupsByCall(argumentValuesOf({ calls, ...rest }))) {
    const chosen = group.flatMap((value) => {
      const shares = sharesOf(value, consumed, weights)
      return value.candidates[shares.indexOf(Math.max(...shares))]!.call ?? []
    })
    for (const from of chosen) {
      found.add(`${calls[from]!.id}>${calls[group[0]!.call]!.id}`)
      consumed.add(from)
    }
  }
  return found
}

type Lesson = { value: ArgumentValue; right: boolean[]; consumed: Set<number> }

/** The producer is known only as one of the true ones: the likelihood of any of them grows. */
export function fitFlows(sets: Map<string, Case[]>, half: number | null): Record<string, number> {
  const lessons = [...sets]
    .filter(([name]) => taught.includes(name))
    .flatMap(([, cases]) => cases.filter((_, at) => half === null || at % 2 === half).flatMap(lessonsOf))
  const names = Object.keys(flowWeights)
  const weights: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]))
  const mean = { ...weights }
  const square = { ...weights }
  for (let step = 1; step <= 150; step++) {
    const gradient = gradientOf(lessons, weights)
    for (const name of names) {
      const slope = gradient[name]! / lessons.length - 0.0005 * weights[name]!
      mean[name] = 0.9 * mean[name]! + 0.1 * slope
      square[name] = 0.99 * square[name]! + 0.01 * slope * slope
      const rate = 0.2 / (Math.sqrt(square[name]! / (1 - 0.99 ** step)) + 1e-8)
      weights[name] = weights[name]! + (rate * mean[name]!) / (1 - 0.9 ** step)
    }
  }
  return Object.fromEntries(names.map((name) => [name, Math.round(100 * weights[name]!) / 100]))
}

function lessonsOf({ trace, truth }: Case): Lesson[] {
  const consumed = new Set<number>()
  return groupsByCall(argumentValuesOf(trace)).flatMap((group) => {
    const before = new Set(consumed)
    return group.map((value): Lesson => {
      const isTrue = (call: number | null) =>
        call !== null && truth.has(`${trace.calls[call]!.id}>${trace.calls[value.call]!.id}`)
      const right = value.candidates.map(({ call }) => isTrue(call))
      for (const { call } of value.candidates) if (isTrue(call)) consumed.add(call!)
      right[0] = !right.includes(true)
      return { value, right, consumed: before }
    })
  })
}

function gradientOf(lessons: Lesson[], weights: Record<string, number>): Record<string, number> {
  const gradient: Record<string, number> = Object.fromEntries(Object.keys(weights).map((name) => [name, 0]))
  for (const { value, right, consumed } of lessons) {
    const shares = sharesOf(value, consumed, weights)
    const rightShare = shares.reduce((sum, share, at) => sum + (right[at] ? share : 0), 0) || 1e-9
    for (const [at, { call, features }] of value.candidates.entries()) {
      const pull = (right[at] ? shares[at]! / rightShare : 0) - shares[at]!
      for (const name in features) gradient[name]! += pull * features[name as keyof FlowFeatures]!
      if (call === null || consumed.has(call)) continue
      gradient.unconsumed! += pull
      if (features.isNearest) gradient.isNearestUnconsumed! += pull
    }
  }
  return gradient
}

export const fitAllFlows = (folder: string) => fitFlows(readTraces(folder), null)
