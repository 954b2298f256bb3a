/**
 * The fitted planner: which tools an intent will need, in which order, and the probability that
 * exactly these will be used. It stands beside the rows, not among them: it is made of the same
 * record, later, so that no digest waits for it.
 */
import type { NearIntent, Planned } from '#learn/intents'
import { type Blend, type Logistic, packLinear, predictLogistic, unpackLinear } from '#learn/models'
import { type JsonObject, limits } from '#model'
import { type ChoiceModel, choosePlan } from './choose-plan.ts'
import { type Ranked, rankTools, surenessOf } from './choose-tools.ts'
import { type Evidence, openWitness, type WordScores } from './evidence.ts'
import type { Experience } from './experience.ts'
import { openPairs } from './pair-features.ts'

type PlannerModel = {
  experience: Experience
  join: Blend
  choice: ChoiceModel
  sureness: Logistic
  /** Confidence is never above it: of n cases, even if all came true, more is not known. */
  most: number
}

export type PlannerState = {
  /** The number of runs at which it was fitted. */
  count: number
  /** Past plans, each foreseen from the others. */
  cases: number
  /** Mean node F1 of the tools that are foreseen, and without the planner. */
  with: number
  without: number
  /** What it gains in F1 less one standard error, and what it gains in nDCG@10. */
  lower: number
  rankGain: number
  isAdmitted: boolean
  /** How sure it was of its newest cases, and whether exactly these tools were used. */
  outcomes: { confidence: number; isRight: boolean }[]
  model: PlannerModel
}

/** What people are told of it. */
export type PlannerReport = {
  state: 'on' | 'off'
  why: string
  fittedAt: number
  heldOut: number
  with: number | null
  without: number | null
}

/** What it says of one intent. */
export type Foretold = {
  /** How likely each tool is used: a part of the ranking. */
  planned: Planned
  plan(): { tools: readonly string[]; confidence: number }
}

export type Planner = {
  report: PlannerReport
  outcomes: PlannerState['outcomes']
  /** Of tools that `accepts` lets pass; null while it is not admitted. */
  of(
    intent: string,
    near: readonly NearIntent[],
    words: WordScores,
    accepts: (tool: string) => boolean,
  ): Foretold | null
}

export const noPlanner: Planner = {
  report: {
    state: 'off',
    why: `it is fitted first after ${limits.planCasesMin} runs with an intent, while "metier serve" runs`,
    fittedAt: 0,
    heldOut: 0,
    with: null,
    without: null,
  },
  outcomes: [],
  of: () => null,
}

function reportOf({ count, cases, isAdmitted, ...state }: PlannerState): PlannerReport {
  const rounded = (value: number) => Math.round(10_000 * value) / 10_000
  const why = isAdmitted
    ? 'it foresees the tools of past intents better'
    : cases < limits.planCasesMin
      ? `${cases} past intents are fewer than ${limits.planCasesMin}`
      : 'it does not surely foresee the tools of past intents better'
  const figures = { with: rounded(state.with), without: rounded(state.without) }
  return { state: isAdmitted ? 'on' : 'off', why, fittedAt: count, heldOut: cases, ...figures }
}

/** Between these its word grows from nothing to all: an intent unlike all others has its own. */
const [unlike, alike] = [0.1, 0.35]

export function plannedOf(ranked: readonly Ranked[], { nearest }: Evidence): Planned {
  const trust = Math.min(1, Math.max(0, (nearest - unlike) / (alike - unlike)))
  return { shares: new Map(ranked.map(({ tool, share }) => [tool, share])), trust }
}

export function openPlanner(state: PlannerState): Planner {
  const report = reportOf(state)
  const { outcomes, model, isAdmitted } = state
  if (!isAdmitted) return { report, outcomes: [], of: () => null }
  const { experience, join, choice, sureness, most } = model
  const [witness, pairs] = [openWitness(experience), openPairs(experience)]
  return {
    report,
    outcomes,
    of(intent, near, words, accepts) {
      const evidence = witness(intent, near, words)
      const ranked = rankTools(join, evidence).filter(({ tool }) => accepts(tool))
      return {
        planned: plannedOf(ranked, evidence),
        plan() {
          const chosen = choosePlan(choice, { ranked, evidence, pairs })
          const confidence = Math.min(most, predictLogistic(sureness, surenessOf(chosen, ranked, evidence)))
          return { tools: chosen, confidence }
        },
      }
    },
  }
}

export function writePlanner({ model, ...state }: PlannerState): string {
  const { experience, ...rest } = model
  return JSON.stringify({
    ...state,
    model: { ...rest, experience: { ...experience, linear: packLinear(experience.linear) } },
  })
}

export function readPlanner(text: string): PlannerState {
  const state = JSON.parse(text) as JsonObject & {
    model: { experience: { linear: Parameters<typeof unpackLinear>[0] } }
  }
  const { experience } = state.model
  const linear = unpackLinear(experience.linear)
  return { ...state, model: { ...state.model, experience: { ...experience, linear } } } as unknown as PlannerState
}
