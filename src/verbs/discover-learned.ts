/**
 * What was learned, joined with the ranking by words: tools gain by past intents, by what goes with
 * the last runs and by success, and verified capabilities stand among them. Where nothing is known
 * the ranking stays as it is.
 */
import { type Catalog, type Hit, signatureOf } from '#catalog'
import {
  type Adviser,
  type Asker,
  historyMin,
  joinParts,
  plannedPart,
  type RankParts,
  type Recalled,
  recalledTools,
} from '#learn'
import { limits, type Tool } from '#model'
import type { FoundCapability } from '#verbs/views'

type LearnedHit = Hit & { parts: RankParts }

type Wanted = { server?: string; effect?: string; minScore?: number }

/** A tool that is called by its name keeps its place. */
const namedMin = 0.97
/** Beside tools, a capability that is less alike is not shown. */
export const likenessMin = 0.3

export async function rankLearned(
  catalog: Catalog,
  adviser: Adviser,
  { intent, asker, hits, wanted }: { intent: string; asker: Asker; hits: readonly Hit[]; wanted: Wanted },
): Promise<LearnedHit[]> {
  const words = new Map(hits.map(({ tool, score }) => [tool.id, score]))
  const hints = adviser.hints(intent, asker, words)
  const recalled = recalledTools(hints, words)
  const tools = await Promise.all(recalled.map((id) => catalog.tool(id, 0).catch(() => undefined)))
  const isWanted = (tool: Tool | undefined): tool is Tool =>
    tool !== undefined &&
    (wanted.server === undefined || tool.server === wanted.server) &&
    (wanted.effect === undefined || tool.effect === wanted.effect || tool.effect.startsWith(`${wanted.effect}:`))
  const more = tools.filter(isWanted).map((tool): Hit => ({ tool, score: 0, why: '', brief: true }))
  const ranked = [...hits, ...more].map((hit): LearnedHit => {
    const { id } = hit.tool
    const history = hints.history.get(id) ?? 0
    const attention = hints.attention(id)
    const own = { words: hit.score, history, context: hints.context(id), success: hints.success(id) }
    const parts = { ...own, ...(attention !== undefined && { attention }), ...plannedPart(hints.planned, id) }
    const score = hit.score >= namedMin ? hit.score : Math.round(1000 * joinParts(parts)) / 1000
    return { ...hit, score, parts, ...whyOf(hit, history, adviser.failuresOf(id)) }
  })
  const isSame = ranked.every(({ score }, at) => score === hits[at]?.score)
  return isSame
    ? ranked
    : ranked.filter(({ score }) => score >= (wanted.minScore ?? 0)).sort((a, b) => b.score - a.score)
}

/** In our own words: what a server said when it failed is not repeated. */
function whyOf({ why, brief }: Hit, history: number, failures: { tries: number; code: string } | null) {
  const used = history >= historyMin ? 'used for intents like this' : ''
  const failed = failures === null ? '' : `tried ${failures.tries} times, failed with ${failures.code}`
  const reasons = [why, used, failed].filter(Boolean).join('; ')
  return reasons === why ? {} : { why: reasons, brief: brief && history < 0.5 }
}

/** At most three of them beside tools: more harms agents. Asked for alone, all. */
export function foundCapabilities(
  recalled: readonly Recalled[],
  isAlone: boolean,
  schemas: boolean,
): FoundCapability[] {
  const shown = isAlone ? recalled : recalled.slice(0, limits.capabilitiesOfferedMax)
  return shown.map(({ capability, likeness, missing, uses }) => {
    const { name, version, intent, status, source, parametersSchema, effect } = capability
    const score = Math.round(1000 * likeness * uses.confidence) / 1000
    const bound =
      missing.length === 0 ? 'the intent says all its values' : `the intent does not say ${missing.join(', ')}`
    return {
      type: 'capability',
      id: `cap:${name}`,
      score,
      why: `did this ${uses.successes} of ${uses.runs} times; ${bound}`,
      description: oneLine(intent),
      intent: oneLine(intent),
      version,
      status,
      source,
      parametersSchema,
      input: schemas ? parametersSchema : signatureOf(parametersSchema),
      effect: effect ?? 'read',
      record: uses,
    }
  })
}

/** Written by the client of that run: shown as one short line, never as an instruction. */
const oneLine = (text: string) =>
  text
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, limits.capabilityIntentCharactersMax)
