/** Why an intent leads to what execute would do with it: each candidate by its parts. */
import type { AttentionReport, RankParts } from '#learn'
import { limits } from '#model'
import { askerOf, type Caller, type Parts, suggest } from '#verbs/execute'
import { textOf } from '#verbs/input'
import { rankLearned } from './discover-learned.ts'

export type WhyAnswer = {
  intent: string
  candidates: { id: string; score: number; parts: RankParts }[]
  decision: string
  reason: string
  /** Whether attention over past runs is part of the scores, and what it was found to be worth. */
  attention: AttentionReport
}

const shownMax = 10

export async function why(parts: Parts, intent: unknown, caller: Pick<Caller, 'subject'>): Promise<WhyAnswer> {
  const { catalog, adviser, minConfidence } = parts
  const asked = textOf('intent', intent)
  const asker = askerOf(catalog, caller)
  const { results: hits } = await catalog.search({ intent: asked, limit: limits.discoverLimitMax })
  const tools = await rankLearned(catalog, adviser, { intent: asked, asker, hits, wanted: {} })
  const capabilities = adviser.recall(asked, asker).map(({ capability, likeness, uses }) => ({
    id: `cap:${capability.name}`,
    score: Math.round(1000 * likeness * uses.confidence) / 1000,
    parts: { words: likeness, history: 0, context: 0, success: uses.confidence },
  }))
  const candidates = [...capabilities, ...tools.map(({ tool, score, parts }) => ({ id: tool.id, score, parts }))]
  const found = await suggest(parts, { intent: asked, args: {}, asker, minConfidence })
  return {
    intent: asked,
    candidates: candidates.sort((a, b) => b.score - a.score).slice(0, shownMax),
    ...decisionOf(found, minConfidence),
    attention: adviser.attention(),
  }
}

function decisionOf(found: Awaited<ReturnType<typeof suggest>>, minConfidence: number | null) {
  if (!('tasks' in found)) {
    const { id, confidence } = found.capability
    const reason = `All its parameters are bound, and its confidence ${confidence} reaches ${minConfidence}.`
    return { decision: `run ${id}`, reason }
  }
  const { tasks, confidence, rationale, capability, warnings } = found
  const what = tasks.map(({ tool }) => tool).join(', ') || 'nothing'
  const open = capability === undefined || warnings.length === 0 ? '' : ` ${warnings.join(' ')}`
  const bound = minConfidence === null ? 'Nothing runs by itself here.' : `To run by itself it needs ${minConfidence}.`
  return { decision: `suggest ${what}`, reason: `${rationale} Confidence ${confidence}. ${bound}${open}` }
}
