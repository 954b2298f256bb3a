/**
 * Reads what was learned for one caller: hints for the ranking, capabilities that an intent recalls
 * with their arguments, and the tools that it will need with a calibrated confidence. It follows
 * what is known as that grows, and reads nothing of other subjects unless that is shared.
 */

import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Attention, AttentionReport } from '#learn/attention'
import { type Capability, withoutValues } from '#learn/capabilities'
import { type Edge, type Example, type Knowledge, unjudged } from '#learn/graph'
import {
  bindArguments,
  type Calibration,
  type Confidence,
  calibrationOf,
  clipped,
  type Foreseen,
  fitConfidence,
  foresee,
  type Hints,
  hintsOf,
  type NearIntent,
  type Outcome,
  outcomesOf,
  type PastIntent,
  type PastIntents,
  readIntent,
  recallIntent,
  type Unmatched,
  unmatchedIn,
} from '#learn/intents'
import { type Foretold, noPlanner, type Planner, type PlannerReport, type WordScores } from '#learn/plans'
import { type Json, type JsonObject, LruCache, limits } from '#model'
import { newestOf, type Offers, openHabits, servedBy, usesOf } from './offers.ts'
import { openPast } from './past.ts'
import { recentTools } from './recent-tools.ts'

/** Who asks: of which subject, and which servers are configured for them. */
export type Asker = { subject: string | null; servers: ReadonlySet<string> }

export type Recalled = {
  capability: Capability
  /** The probability that the intent is one of its intents with other values. */
  likeness: number
  /** What the intent says beyond those: with any of it, another wish may be meant. */
  unmatched: Unmatched
  args: JsonObject
  missing: string[]
  uses: { runs: number; successes: number; confidence: number }
}

/** Where nothing is known, the past says nothing about the intent, and its words decide. */
type Foresight = Foreseen & { confidence: number; recalled: Recalled | null; isKnown: boolean }

/** How alike the nearest past intent must be; the planner also reads words and names of tools. */
const [likenessMin, plannedLikenessMin] = [0.35, 0.15]

const failedShareMin = 0.5
const failedTriesMin = 3

const unlike: Unmatched = { words: [], lacking: [], share: 1 }

const nothing: Knowledge = {
  runs: [],
  removals: 0,
  run: () => undefined,
  tool: () => undefined,
  edges: () => [],
  examplesOf: () => [],
  capabilities: () => [],
  capability: () => undefined,
  shapes: () => [],
  shape: () => undefined,
  usesOf: () => [],
  useCounts: () => ({ runs: 0, successes: 0 }),
}

const askersMax = 16

/** How many more runs make a new fit of the confidence, while they are few and later. */
const [fewRuns, stepOfFew, stepOfMany] = [100, 5, 50]

type AdviserOptions = {
  knowledge(): Knowledge
  /** What was found about attention. */
  attention?: () => Attention
  /** As it was fitted last. */
  planner?: () => Planner
  isShared: boolean
  now(): number
}

export class Adviser {
  readonly #knowledge: () => Knowledge
  readonly #attention: () => Attention
  readonly #planner: () => Planner
  readonly #isShared: boolean
  readonly #now: () => number
  #known: Knowledge | null = null
  readonly #past = openPast()
  readonly #habitOf = openHabits()
  /** By asker: what is offered of all capabilities, as long as these are the same. */
  readonly #offered = new LruCache<string, Offers & { of: readonly Capability[] }>(askersMax)
  readonly #confidences = new LruCache<string, { count: number; fitted: Confidence }>(askersMax)

  constructor({ knowledge, attention = () => unjudged, planner = () => noPlanner, isShared, now }: AdviserOptions) {
    this.#knowledge = knowledge
    this.#attention = attention
    this.#planner = planner
    this.#isShared = isShared
    this.#now = now
  }

  /** Hints for the ranking of tools; `words` are the scores of those that the words alone find. */
  hints(intent: string, asker: Asker, words: WordScores): Hints {
    const known = this.#follow()
    const near = this.#past.all().nearest(intent, this.#accepts(asker))
    const planned = this.#foretell(intent, asker, near, words)?.planned ?? null
    const recent = recentTools(known.runs, asker, this.#now())
    return hintsOf(near, recent, known.tool, { planned, attention: this.#attend(intent, asker) })
  }

  /** What the planner says, while it is admitted and made of no more than the asker may see. */
  #foretell(intent: string, asker: Asker, near: readonly NearIntent[], words: WordScores): Foretold | null {
    if (!this.#isVisible(asker, null) || near.length === 0) return null
    return this.#planner().of(clipped(intent), near, words, (tool) => isThere(tool, asker))
  }

  /** While it is admitted, and made of no more than the asker may see. */
  #attend(intent: string, asker: Asker): Hints['attention'] {
    return this.#isVisible(asker, null) ? this.#attention().of(intent) : () => undefined
  }

  attention(): AttentionReport {
    return this.#attention().report
  }

  planner(): PlannerReport {
    return this.#planner().report
  }

  /** How far stated confidence is from what came true on this home's own newest intents. */
  calibration(): Calibration {
    const known = this.#follow()
    const servers = new Set(known.capabilities().flatMap((capability) => capability.servers))
    const { habits } = this.#offersOf(known, { subject: null, servers })
    const visible = this.#visibleTo({ subject: null, servers }, known)
    return calibrationOf([...outcomesOf(visible, habits)], this.#planner().outcomes)
  }

  /** Verified capabilities that the asker may see, the likeliest first, from `likenessMin` on. */
  recall(intent: string, asker: Asker, args: JsonObject = {}, likenessMin = 0): Recalled[] {
    const known = this.#follow()
    const { capabilities, habits } = this.#offersOf(known, asker)
    const near = habits.length === 0 ? [] : recallIntent(readIntent(clipped(intent)), habits)
    const likeness = new Map(near.map(({ id, confidence }) => [id, confidence]))
    const likenessOf = ({ name }: Capability) => likeness.get(name) ?? 0
    // Arguments are bound last: what is unmatched makes a capability no likelier.
    const ordered = capabilities
      .map((capability, at) => ({ capability, past: habits[at]!.past }))
      .filter(({ capability }) => likenessOf(capability) >= likenessMin)
      .sort((left, right) => likenessOf(right.capability) - likenessOf(left.capability))
    const recalled = ordered.map(({ capability, past }) => {
      const isOwn = capability.subject === asker.subject
      const bound = bindArguments(intent, capability.parametersSchema, isOwn ? past : [], args)
      const uses = usesOf(known, capability, known.shape(capability.shape)?.count)
      const isLike = likenessOf(capability) > 0
      const unmatched = isLike
        ? unmatchedIn(intent, bound.args, servedBy(capability, past, this.#past.wordings()))
        : unlike
      return { capability, likeness: likenessOf(capability) * unmatched.share, unmatched, ...bound, uses }
    })
    return recalled
      .filter(({ likeness }) => likeness >= likenessMin)
      .sort((left, right) => right.likeness - left.likeness)
  }

  /** The tools that an intent will need, and the capability that it recalls. */
  async foresight(intent: string, asker: Asker, words: WordScores, args?: JsonObject): Promise<Foresight> {
    const known = this.#follow()
    const fitted = await this.#confidenceFor(known, asker)
    const near = this.#past.all().nearest(intent, this.#accepts(asker))
    const plan = this.#foretell(intent, asker, near, words)?.plan()
    const foreseen = foresee(intent, near, this.#offersOf(known, asker).habits, plan?.tools)
    const found = this.recall(intent, asker, args)
    const recalled = found.find(({ capability }) => capability.name === foreseen.habit) ?? null
    const tools = new Set(foreseen.tools)
    const doesThese = ({ capability }: Recalled) =>
      new Set(Object.keys(capability.tools)).symmetricDifference(tools).size === 0
    const isPlanned = foreseen.tools === plan?.tools
    // A home that was asked for no more than its habits shows nothing of those who ask for more.
    const share = (recalled ?? found.find(doesThese))?.unmatched.share ?? 1
    const confidence = share * (isPlanned ? plan.confidence : fitted.of(foreseen))
    const likeness = near[0]?.likeness ?? 0
    const isKnown = tools.size > 0 && likeness >= (isPlanned ? plannedLikenessMin : likenessMin)
    return { ...foreseen, confidence, recalled, isKnown }
  }

  /** Values that a tool was called with, and the intents of those runs. */
  pastArguments(tool: string, asker: Asker): { intent: string; args: Json }[] {
    const known = this.#follow()
    return this.examples(tool, asker).flatMap(({ run, input }) => {
      const intent = known.run(run)?.intent
      return intent == null ? [] : [{ intent, args: input }]
    })
  }

  examples(tool: string, asker: Asker): Example[] {
    return this.#knowledge()
      .examplesOf(tool)
      .filter(({ subject }) => subject === asker.subject)
  }

  edges(): Edge[] {
    return this.#knowledge().edges()
  }

  /** How often a tool failed, and with which code most: never a server's text. */
  failuresOf(tool: string): { tries: number; code: string } | null {
    const { calls = 0, successes = 0, codes = {} } = this.#lastKnown().tool(tool) ?? {}
    const [worst] = Object.entries(codes).sort(([, left], [, right]) => right - left)
    const isFailing = calls >= failedTriesMin && (calls - successes) / calls >= failedShareMin
    return worst === undefined || !isFailing ? null : { tries: calls, code: worst[0] }
  }

  /** Takes in the runs that were closed since. */
  #follow(): Knowledge {
    this.#known = this.#knowledge()
    this.#past.follow(this.#known)
    return this.#known
  }

  /** As of the last question: of each of many tools the file is not asked again. */
  #lastKnown(): Knowledge {
    return this.#known ?? this.#follow()
  }

  #isVisible(asker: Asker, subject: string | null): boolean {
    return this.#isShared || subject === asker.subject
  }

  #visibleTo({ subject }: Asker, known: Knowledge): PastIntents {
    return this.#isShared ? this.#past.all() : this.#past.of(subject, known)
  }

  #accepts(asker: Asker): (past: PastIntent) => boolean {
    return ({ subject, tools }) => this.#isVisible(asker, subject) && tools.every((tool) => isThere(tool, asker))
  }

  #offersOf(known: Knowledge, asker: Asker): Offers {
    const isOffered = ({ status, subject, servers }: Capability) =>
      status === 'verified' && this.#isVisible(asker, subject) && servers.every((server) => asker.servers.has(server))
    const asSeen = (one: Capability) => (one.subject === asker.subject ? one : withoutValues(one))
    const [key, of] = [keyOf(asker), known.capabilities()]
    const found = this.#offered.get(key)
    const capabilities = found?.of === of ? found.capabilities : newestOf(known, isOffered).map(asSeen)
    const read = capabilities.map((capability) => this.#habitOf(known, capability))
    const isSame = read.length === found?.habits.length && read.every((habit, at) => habit === found.habits[at])
    const offers = { capabilities, habits: isSame ? found.habits : read, of }
    this.#offered.set(key, offers)
    return offers
  }

  /** Fitted again after some more runs, a few milliseconds at a time. */
  async #confidenceFor(known: Knowledge, asker: Asker): Promise<Confidence> {
    const key = keyOf(asker)
    const count = this.#past.count()
    const found = this.#confidences.get(key)
    const step = count < fewRuns ? stepOfFew : stepOfMany
    if (found !== undefined && count >= found.count && count < found.count + step) return found.fitted
    const visible = this.#visibleTo(asker, known)
    const outcomes: Outcome[] = []
    let began = performance.now()
    for (const outcome of outcomesOf(visible, this.#offersOf(known, asker).habits)) {
      outcomes.push(outcome)
      if (performance.now() - began < limits.learnStepMs) continue
      await yieldToEventLoop()
      began = performance.now()
    }
    const fitted = fitConfidence(outcomes)
    this.#confidences.set(key, { count, fitted })
    return fitted
  }
}

/** Knows nothing: everything stays as it is without learning. */
export const noAdviser: Adviser = new Adviser({
  knowledge: () => nothing,
  isShared: false,
  now: Date.now,
})

const isThere = (tool: string, { servers }: Asker) =>
  tool.startsWith('cap:') || servers.has(tool.slice(0, tool.indexOf(':')))

const keyOf = ({ subject, servers }: Asker) => `${subject ?? ''} ${[...servers].sort().join()}`
