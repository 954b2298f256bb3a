/**
 * What past plans say about an intent: for every tool what speaks for it, and the plans whose
 * intents are nearest. The evidence is joined by a second model, fitted on intents that the first
 * had not seen.
 */

import { fitLinear, type LinearModel } from '#learn/models'
import { indexTexts, stemsOf } from '#learn/text'

export type KnownTool = { id: string; name: string; description: string }

/** Tools are named by their place in the list of known tools, in the order in which they ran. */
export type PastPlan = { intent: string; tools: number[] }

export type Neighbour = { plan: PastPlan; weight: number }
export type Evidence = {
  /** For every tool that may be meant, its features. */
  candidates: Map<number, number[]>
  neighbours: Neighbour[]
  /** How alike the nearest past intent is, at most about 1. */
  nearest: number
}

type Experience = { about(intent: string): Evidence; linear: LinearModel }

const neighbourCount = 40

/** Stems, and pairs of neighbouring stems. */
export function termsOf(text: string): string[] {
  const stems = stemsOf(text)
  return [...stems, ...stems.slice(1).map((stem, at) => `${stems[at]} ${stem}`)]
}

export function gatherExperience(tools: readonly KnownTool[], plans: readonly PastPlan[]): Experience {
  const texts = tools.map(({ name, description }) => stemsOf(`${name} ${description}`))
  const described = indexTexts(texts)
  const terms = plans.map(({ intent }) => termsOf(intent))
  const intents = indexTexts(terms)
  const epochs = plans.length < 300 ? 30 : 12
  const linear = fitLinear(
    terms,
    plans.map((plan) => plan.tools),
    tools.length,
    { epochs, countMin: plans.length < 300 ? 1 : 2 },
  )
  const names = nameModel(tools, plans, terms, epochs)
  const { together, frequency } = countTogether(tools.length, plans)
  return {
    linear,
    about(intent) {
      const asked = termsOf(intent)
      const stems = new Set(stemsOf(intent))
      const logits = linear.logits(asked)
      const shares = logits.map((logit) => 1 / (1 + Math.exp(-logit)))
      const { neighbours, nearest } = neighboursOf(plans, intents.scores(asked), intents.selfScore(asked))
      const few = voteOf(tools.length, neighbours.slice(0, 10))
      const many = voteOf(tools.length, neighbours)
      const three = voteOf(tools.length, neighbours.slice(0, 3))
      const words = unit(described.scores([...stems]))
      const named = names(asked)
      const likely = [...shares.keys()].filter((tool) => shares[tool]! > 0.05)
      const [byLogit, byWords, byVote, byName] = [logits, words, few, named.mean].map(ranksOf)
      const isCandidate = (tool: number) =>
        byLogit![tool]! < 20 || byWords![tool]! < 12 || byName![tool]! < 12 || (byVote![tool]! < 20 && few[tool]! > 0)
      const candidates = new Map<number, number[]>()
      const top = Math.max(...logits)
      for (const tool of tools.keys()) {
        if (!isCandidate(tool)) continue
        let [sum, most] = [0, 0]
        for (const other of likely) {
          if (other === tool) continue
          const joint = shares[other]! * (together.get(other)?.get(tool) ?? 0)
          sum += joint
          most = Math.max(most, joint)
        }
        const matched = texts[tool]!.filter((stem) => stems.has(stem)).length / Math.max(1, texts[tool]!.length)
        candidates.set(tool, [
          logits[tool]!,
          logits[tool]! - top,
          few[tool]!,
          many[tool]!,
          three[tool]!,
          words[tool]!,
          Math.log1p(frequency[tool]!),
          named.mean[tool]!,
          named.least[tool]!,
          sum,
          most,
          byLogit![tool]!,
          byWords![tool]!,
          byName![tool]!,
          matched,
          nearest,
          stems.size,
          (neighbours[0]?.plan.tools.includes(tool) ? 1 : 0) * nearest,
        ])
      }
      return { candidates, neighbours, nearest }
    },
  }
}

/** Which words the names of the needed tools have: that carries over to tools never used before. */
function nameModel(tools: readonly KnownTool[], plans: readonly PastPlan[], terms: string[][], epochs: number) {
  const stems = tools.map(({ name }) => [...new Set(stemsOf(name))])
  const numbers = new Map([...new Set(stems.flat())].map((stem, at) => [stem, at]))
  const words = stems.map((list) => list.map((stem) => numbers.get(stem)!))
  const labels = plans.map((plan) => [...new Set(plan.tools.flatMap((tool) => words[tool]!))])
  const model = fitLinear(terms, labels, numbers.size, { epochs, countMin: plans.length < 300 ? 1 : 2 })
  return (asked: string[]) => {
    const logits = model.logits(asked)
    const of = (list: number[]) => list.map((word) => logits[word]!)
    return {
      mean: Float64Array.from(
        words,
        (list) => of(list).reduce((sum, logit) => sum + logit, 0) / Math.max(1, list.length),
      ),
      least: Float64Array.from(words, (list) => Math.min(9, ...of(list))),
    }
  }
}

/** How often a tool was used, and with which others, as shares of its uses. */
function countTogether(toolCount: number, plans: readonly PastPlan[]) {
  const frequency = new Float64Array(toolCount)
  const together = new Map<number, Map<number, number>>()
  for (const { tools } of plans) {
    for (const tool of tools) {
      frequency[tool]! += 1
      const row = together.get(tool) ?? new Map<number, number>()
      for (const other of tools) if (other !== tool) row.set(other, (row.get(other) ?? 0) + 1)
      together.set(tool, row)
    }
  }
  for (const [tool, row] of together) for (const [other, count] of row) row.set(other, count / (frequency[tool]! + 2))
  return { frequency, together }
}

function neighboursOf(plans: readonly PastPlan[], scores: Float64Array, self: number) {
  const order = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]! || a - b).slice(0, neighbourCount)
  const top = scores[order[0] ?? 0] || 1
  const neighbours = order.map((at): Neighbour => ({ plan: plans[at]!, weight: (scores[at]! / top) ** 4 }))
  return { neighbours, nearest: top / self / 2 }
}

function voteOf(toolCount: number, neighbours: readonly Neighbour[]): Float64Array {
  const votes = new Float64Array(toolCount)
  const sum = neighbours.reduce((total, { weight }) => total + weight, 0) || 1
  for (const { plan, weight } of neighbours) for (const tool of plan.tools) votes[tool]! += weight / sum
  return votes
}

function unit(scores: Float64Array): Float64Array {
  const top = Math.max(...scores) || 1
  return scores.map((score) => score / top)
}

function ranksOf(scores: Float64Array): Float64Array {
  const ranks = new Float64Array(scores.length)
  const order = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]! || a - b)
  for (const [rank, tool] of order.entries()) ranks[tool] = rank
  return ranks
}
