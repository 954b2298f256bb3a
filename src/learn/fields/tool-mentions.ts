/** Where an intent speaks of each tool: what is spoken of first is likely to be called first. */
import { type Specificity, stemsOf } from '#learn/text'

/**
 * `place` is the clause that is most like the tool, `turn` the mean place of its words, both
 * between 0 and 1 and the middle where the intent says nothing.
 */
type ToolMention = { place: number; turn: number; clause: Set<string>; backReferences: number }

const clauseEnd = /[,.;]|\band\b|\bthen\b|\bafter\b/
/** Words that take up what an earlier call gave. */
const backReference =
  /\b(this|these|that|those|it|its|them|their|based|result|results|resulting|according|using|obtained|above|said|following|identified|selected|such)\b/gi

export function toolMentions(intent: string, tools: readonly Set<string>[], specificity: Specificity): ToolMention[] {
  const texts = intent.split(clauseEnd)
  const clauses = texts.map((text) => new Set(stemsOf(text)))
  const stems = stemsOf(intent)
  const holders = (stem: string) => tools.filter((words) => words.has(stem)).length
  // What several of the tools are about does not tell them apart.
  const weightOf = (stem: string) => specificity(stem) * Math.log(1 + tools.length / Math.max(1, holders(stem)))
  return tools.map((words) => {
    const scores = clauses.map((clause) => {
      let score = 0
      for (const stem of clause.intersection(words)) score += weightOf(stem)
      return score / (1 + Math.sqrt(clause.size))
    })
    const best = Math.max(0, ...scores)
    const at = scores.indexOf(best)
    return {
      place: best > 0 ? (at + 0.5) / clauses.length : 0.5,
      turn: turnOf(stems, words, (stem) => (holders(stem) < tools.length ? weightOf(stem) / holders(stem) : 0)),
      clause: best > 0 ? clauses[at]! : new Set(),
      backReferences: best > 0 ? (texts[at]!.match(backReference) ?? []).length : -1,
    }
  })
}

function turnOf(stems: readonly string[], words: Set<string>, weightOf: (stem: string) => number): number {
  let [sum, weight] = [0, 0]
  for (const stem of new Set(stems).intersection(words)) {
    weight += weightOf(stem)
    sum += (weightOf(stem) * stems.indexOf(stem)) / stems.length
  }
  return weight > 0 ? sum / weight : 0.5
}
