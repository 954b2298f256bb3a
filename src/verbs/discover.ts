/** discover(): an intent enters, ranked tools leave, or the words that matched nothing. */
import { type Catalog, signatureOf } from '#catalog'
import type { Adviser, Asker } from '#learn'
import { effectKinds, isEffect, type Json, type JsonObject, limits, type Tool } from '#model'
import { invalid, missing, numberOf, objectOf, oneOf, optional, textOf } from '#verbs/input'
import type { DiscoverAnswer, FoundCapability } from '#verbs/views'
import { foundCapabilities, likenessMin, rankLearned } from './discover-learned.ts'

type Filter = { type: 'tool' | 'capability' | 'all'; server?: string; effect?: string; minScore?: number }

export async function discover(
  { catalog, adviser }: { catalog: Catalog; adviser: Adviser },
  input: unknown,
  asker: Asker,
): Promise<DiscoverAnswer> {
  const { intent, filter, limit, schemas } = readInput(input)
  const { type, ...wanted } = filter
  const servers = Object.keys(catalog.digests())
  if (wanted.server !== undefined) oneOf('filter.server', wanted.server, servers)
  const recalled =
    type === 'tool' || wanted.server !== undefined
      ? []
      : adviser.recall(intent, asker, {}, type === 'capability' ? 0 : likenessMin)
  const capabilities = foundCapabilities(recalled, type === 'capability', schemas).filter(
    ({ effect, score }) => (wanted.effect ?? effect) === effect && score >= (wanted.minScore ?? 0),
  )
  if (type === 'capability') return onlyCapabilities(capabilities.slice(0, limit))
  const answer = await catalog.search({ intent, filter: wanted, limit: limits.discoverLimitMax })
  const ranked = await rankLearned(catalog, adviser, { intent, asker, hits: answer.results, wanted })
  const found = ranked.slice(0, limit).map(({ tool, score, why, brief }, at): DiscoverAnswer['results'][number] => {
    const told = catalog.forAgents(tool)
    const { id, effect, effects } = tool
    if (brief) return { type: 'tool', id, score, brief, description: sentenceOf(told.description) }
    const { output, ...words } = wordsOf(told, schemas)
    const isWhole = at === 0 || schemas
    const said = isWhole
      ? { ...words, ...(output !== undefined && { output }) }
      : { ...words, description: shortened(words.description, limits.discoverOtherCharactersMax) }
    return { type: 'tool', id, score, why, ...said, effect, ...(effects && { effects: [...effects] }) }
  })
  const results = [...capabilities, ...found].sort((a, b) => b.score - a.score).slice(0, limit)
  const isFound = (results[0]?.score ?? 0) >= foundMin
  return {
    status: isFound ? 'found' : answer.status,
    results,
    unmatched: answer.unmatched,
    nearest: answer.nearest,
    ...(answer.silent.length > 0 && { silent: answer.silent }),
    ...(answer.starting.length > 0 && { starting: answer.starting }),
  }
}

/** More likely than not. */
const foundMin = 0.5

function onlyCapabilities(results: FoundCapability[]): DiscoverAnswer {
  const best = results[0]?.score ?? 0
  const status = results.length === 0 ? 'nothing_fits' : best >= foundMin ? 'found' : 'unsure'
  return { status, results, unmatched: [], nearest: [] }
}

/** The first sentence, or as much of it as may stand in a list. */
function sentenceOf(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const [sentence] = /^.+?[.!?](?=\s|$)/.exec(line) ?? [line]
  return shortened(sentence, limits.discoverBriefCharactersMax)
}

/** Cut after a word. */
function shortened(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const space = text.lastIndexOf(' ', charactersMax - 1)
  return `${text.slice(0, space > 0 ? space : charactersMax - 1)}…`
}

function wordsOf(tool: Tool, whole: boolean) {
  const { description, documentation = description } = tool
  return { description: whole ? documentation : description, ...shapes(tool, whole) }
}

function shapes({ input, observed, output = observed }: Tool, whole: boolean): { input: Json; output?: Json } {
  const shape = (schema: JsonObject) => (whole ? schema : signatureOf(schema))
  return { input: shape(input), ...(output === undefined ? {} : { output: shape(output) }) }
}

function readInput(input: unknown) {
  const { intent, filter, limit, schemas } = objectOf('input', input, ['intent', 'filter', 'limit', 'schemas'])
  if (intent === undefined) throw missing('intent', 'say in a few words what you want to do')
  return {
    intent: textOf('intent', intent),
    filter: optional(filter, readFilter, { type: 'all' } as Filter),
    limit: optional(
      limit,
      (value) => numberOf('limit', value, [1, limits.discoverLimitMax]),
      limits.discoverLimitDefault,
    ),
    schemas: optional(schemas, (value) => oneOf('schemas', value, [true, false]), false),
  }
}

function readFilter(value: Json): Filter {
  const { type, server, effect, minScore } = objectOf('filter', value, ['type', 'server', 'effect', 'minScore'])
  if (minScore != null && !(typeof minScore === 'number' && minScore >= 0 && minScore <= 1))
    throw invalid('filter.minScore', 'it must be a number from 0 to 1', minScore)
  return {
    type: optional(type, (text) => oneOf('filter.type', text, ['tool', 'capability', 'all']), 'all'),
    ...(server == null ? {} : { server: textOf('filter.server', server) }),
    ...(effect == null ? {} : { effect: effectOf(effect) }),
    ...(minScore == null ? {} : { minScore }),
  }
}

/** A keyed tool is found with its parameter or without. */
function effectOf(value: Json): string {
  const effect = textOf('filter.effect', value)
  return isEffect(effect) ? effect : oneOf('filter.effect', effect, effectKinds)
}
