/**
 * An intent without a plan: the verified capability that it recalls, with its arguments, else a
 * graph of tasks to fill in. Where the capability is sure enough it is to run; nothing else does.
 */
import type { Catalog, Found } from '#catalog'
import { type Adviser, type Asker, type Recalled, suggestGraph, type ToolSchema, toolSchemaOf } from '#learn'
import { type JsonObject, limits, type Tool } from '#model'
import type { Suggestion } from '#verbs/views'

type SuggestRequest = { intent: string; args: JsonObject; asker: Asker; minConfidence: number | null }
export type SuggestParts = { catalog: Catalog; adviser: Adviser }

/** What is to run: the capability, its arguments, and how sure it is. */
type Speculation = {
  id: string
  args: JsonObject
  capability: { id: string; version: number; confidence: number }
}

const alternativesMax = 3
/** Below this a capability is none that the intent may mean. */
const likenessMin = 0.35
/** What the words of tools alone can say of a whole set of tools. */
const wordsConfidenceMax = 0.5

export async function suggest(parts: SuggestParts, asked: SuggestRequest): Promise<Suggestion | Speculation> {
  const { intent, args, asker, minConfidence } = asked
  const found = await parts.catalog.search({ intent, limit: limits.discoverLimitMax })
  const words = new Map(found.results.map(({ tool, score }) => [tool.id, score]))
  const { recalled, confidence, tools, isKnown } = await parts.adviser.foresight(intent, asker, words, args)
  if (recalled !== null) {
    const { name, version } = recalled.capability
    // Its tools may be right while another procedure is meant.
    const sureness = Math.min(confidence, recalled.likeness)
    const isSure = minConfidence !== null && sureness >= minConfidence
    const { words, lacking } = recalled.unmatched
    if (isSure && recalled.missing.length + words.length + lacking.length === 0) {
      const id = `cap:${name}@${version}`
      return { id, args: recalled.args, capability: { id: `cap:${name}`, version, confidence: rounded(sureness) } }
    }
    return capabilitySuggestion(parts, asked, recalled, confidence)
  }
  const known = isKnown ? await toolsOf(parts.catalog, tools) : []
  if (known.length > 0 && known.length === tools.length)
    return graphSuggestion(parts, { ...asked, words }, known, confidence)
  return wordsSuggestion(parts, asked, found)
}

const rounded = (share: number) => Math.round(1000 * share) / 1000

/** As agents may see them: a tool that changed says nothing of what it has become. */
async function toolsOf(catalog: Catalog, ids: readonly string[]): Promise<Tool[]> {
  const tools = await Promise.all(ids.map((id) => catalog.tool(id, limits.discoverWaitMsMax).catch(() => undefined)))
  return tools.filter((tool) => tool !== undefined).map((tool) => catalog.forAgents(tool))
}

async function capabilitySuggestion(
  parts: SuggestParts,
  { intent, asker }: SuggestRequest,
  { capability, args, missing, unmatched, uses }: Recalled,
  confidence: number,
): Promise<Suggestion> {
  const id = `cap:${capability.name}`
  const tools = await toolsOf(parts.catalog, Object.keys(capability.tools))
  const others = parts.adviser.recall(intent, asker).filter(({ likeness }) => likeness >= likenessMin)
  return {
    tasks: [{ id: 't1', type: 'capability', tool: id, arguments: args }],
    confidence: rounded(confidence),
    rationale: `"${id}" did this ${uses.successes} of ${uses.runs} times.`,
    dependencyPaths: [],
    toolSchemas: schemasOf(parts, tools, asker),
    alternatives: others.map((other) => `cap:${other.capability.name}`).filter((other) => other !== id),
    warnings: [
      ...missing.map((name) => `The intent does not say "${name}": give it in args.`),
      ...(unmatched.words.length === 0 ? [] : [beyond(id, unmatched.words)]),
    ],
    capability: { id, args, missing },
  }
}

const wordsShownMax = 5

const beyond = (id: string, words: readonly string[]) =>
  `"${id}" was never asked for with: ${words.slice(0, wordsShownMax).join(', ')}. It does what it did before, and no more.`

function graphSuggestion(
  parts: SuggestParts,
  { intent, asker, args, words }: SuggestRequest & { words: ReadonlyMap<string, number> },
  tools: Tool[],
  confidence: number,
): Suggestion {
  const past = (tool: string) => parts.adviser.pastArguments(tool, asker)
  const graph = suggestGraph(intent, tools, parts.adviser.edges(), past, args)
  const chosen = new Set(tools.map(({ id }) => id))
  const votes = [...parts.adviser.hints(intent, asker, words).history].sort(([, left], [, right]) => right - left)
  return {
    tasks: graph.tasks,
    confidence: rounded(confidence),
    rationale: `Intents like this used ${[...chosen].join(', ')}.`,
    dependencyPaths: graph.dependencyPaths,
    toolSchemas: schemasOf(parts, tools, asker),
    alternatives: votes
      .map(([tool]) => tool)
      .filter((tool) => !chosen.has(tool))
      .slice(0, alternativesMax),
    warnings: [...graph.missing.map((name) => `Nothing fills "${name}".`), ...failures(parts, tools)],
  }
}

/** Nothing like it was asked before: the tool whose words fit best. */
function wordsSuggestion(
  parts: SuggestParts,
  { intent, asker, args }: SuggestRequest,
  { results, unmatched }: Found,
): Suggestion {
  const best = results[0]
  const tools = best === undefined ? [] : [parts.catalog.forAgents(best.tool)]
  const { tasks, missing } = suggestGraph(intent, tools, [], (tool) => parts.adviser.pastArguments(tool, asker), args)
  return {
    tasks,
    confidence: Math.min(wordsConfidenceMax, best?.score ?? 0),
    rationale: best === undefined ? 'No tool fits the intent.' : `"${best.tool.id}" fits best: ${best.why}`,
    dependencyPaths: [],
    toolSchemas: schemasOf(parts, tools, asker),
    alternatives: results.slice(1, 1 + alternativesMax).map(({ tool }) => tool.id),
    warnings: [
      ...(unmatched.length === 0 ? [] : [`No tool knows the words: ${unmatched.join(', ')}`]),
      ...missing.map((name) => `Nothing fills "${name}".`),
      ...failures(parts, tools),
    ],
  }
}

function failures({ adviser }: SuggestParts, tools: readonly Tool[]): string[] {
  return tools.flatMap(({ id }) => {
    const failed = adviser.failuresOf(id)
    return failed === null ? [] : [`"${id}" was tried ${failed.tries} times and failed with ${failed.code}.`]
  })
}

function schemasOf({ adviser }: SuggestParts, tools: readonly Tool[], asker: Asker): Record<string, ToolSchema> {
  return Object.fromEntries(
    tools.map((tool) => {
      const examples = adviser.examples(tool.id, asker).map(({ run, call, input, output }) => {
        return { description: `call ${call} of run ${run}`, input, output }
      })
      return [tool.id, toolSchemaOf(tool, examples)]
    }),
  )
}
