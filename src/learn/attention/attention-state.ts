/**
 * What was found about attention at the last fixed count of runs: the figures with and without it,
 * and the model while it is admitted. It stands beside the rows, not among them: it is made of the
 * same record, later, so that no digest waits for it.
 */

import { stemsOf } from '#learn/text'
import { isObject, type JsonObject, limits } from '#model'
import { type AttentionModel, attend } from './attention-network.ts'

export type AttentionState = {
  /** The number of runs at which it was judged. */
  count: number
  /** Held-out later intents. */
  cases: number
  /** Mean nDCG@10 of the ranking of tools. */
  with: number
  without: number
  /** The lower bound of the 95 % interval of what it gains, case by case. */
  lower: number
  isAdmitted: boolean
  model: { tools: string[]; model: AttentionModel } | null
}

/** What people are told of it. */
export type AttentionReport = {
  state: 'on' | 'off'
  why: string
  judgedAt: number
  heldOut: number
  with: number | null
  without: number | null
  lowerBound: number | null
}

export function reportOf(state: AttentionState): AttentionReport {
  const figures = { judgedAt: state.count, heldOut: state.cases }
  const rounded = (value: number) => Math.round(10_000 * value) / 10_000
  const measured = { with: rounded(state.with), without: rounded(state.without), lowerBound: rounded(state.lower) }
  if (state.isAdmitted) return { state: 'on', why: 'it ranks later intents better', ...figures, ...measured }
  const why =
    state.cases < limits.attentionCasesMin
      ? `${state.cases} held-out intents are fewer than ${limits.attentionCasesMin}`
      : 'it does not surely rank later intents better'
  return { state: 'off', why, ...figures, ...measured }
}

/** What ranks by it: nothing does while it is not admitted. */
export type Attention = {
  report: AttentionReport
  /** By tool, between 0 and 1: 0.5 says nothing for or against it; undefined of an unknown tool. */
  of(intent: string): (tool: string) => number | undefined
}

export function openAttention(text: string): Attention {
  const state = readAttention(text)
  const report = reportOf(state)
  if (state.model === null) return { report, of: () => () => undefined }
  const { tools, model } = state.model
  const numbers = new Map(tools.map((tool, at) => [tool, at]))
  const sharesOf = attend(model)
  const of = (intent: string) => {
    const shares = sharesOf(intentTerms(intent))
    return (tool: string) => {
      const at = numbers.get(tool)
      return at === undefined ? undefined : sizeOfShare(shares[at]!, tools.length)
    }
  }
  return { report, of }
}

export const intentTerms = (intent: string) =>
  [...new Set(stemsOf(intent.slice(0, limits.learnIntentCharactersMax)))].slice(0, limits.learnIntentStemsMax)

/** A share against that of chance, within bounds: no intent makes a tool win by this alone. */
export function sizeOfShare(share: number, count: number): number {
  const odds = share * count
  return share === 0 ? 0.5 : Math.min(0.95, Math.max(0.05, odds / (1 + odds)))
}

const arrays = ['rarity', 'embedding', 'query', 'vectors', 'bias'] as const

export function writeAttention({ model, ...state }: AttentionState): string {
  const packed = (values: Float64Array) => Buffer.from(Float32Array.from(values).buffer).toString('base64')
  if (model === null) return JSON.stringify({ ...state, model })
  const numbers = Object.fromEntries(arrays.map((name) => [name, packed(model.model[name])]))
  return JSON.stringify({ ...state, model: { tools: model.tools, terms: model.model.terms, ...numbers } })
}

function readAttention(text: string): AttentionState {
  const { model, ...state } = JSON.parse(text) as JsonObject
  if (!isObject(model)) return { ...state, model: null } as AttentionState
  const { tools, terms, ...numbers } = model
  const unpacked = (base64: string) => {
    const bytes = Buffer.from(base64, 'base64')
    return Float64Array.from(new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length)))
  }
  const read = Object.fromEntries(arrays.map((name) => [name, unpacked(String(numbers[name]))]))
  return { ...state, model: { tools, model: { terms, ...read } } } as unknown as AttentionState
}
