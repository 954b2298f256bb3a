/** Puts a tool that calls itself deprecated behind the one that takes its place. */
import type { Tool } from '#model'

export type Ranked = { tool: Tool; evidence: number }

/**
 * Without a successor that could be shown instead, a deprecated tool has this share of what speaks
 * for it.
 */
const deprecatedShare = 0.5

const over = '(?:deprecated|obsolete|superseded|no longer (?:maintained|supported|recommended))'
/** It speaks of itself: "list deprecated packages" is about others. */
const deprecation = new RegExp(
  `^\\W*deprecated\\b|[([]deprecated[)\\]]|\\bdeprecated[,:;.]?\\s+(?:use|in favou?r)\\b|\\bthis (?:\\w+ ){1,2}(?:is|was|has been)(?: now)? ${over}\\b`,
  'i',
)

function isDeprecated({ description, annotations }: Tool): boolean {
  return annotations.deprecated === true || deprecation.test(description) || /\bDEPRECATED\b/.test(description)
}

/**
 * The tool of the same server that a deprecated one names in its description ("DEPRECATED: use
 * read_text_file instead") takes over what speaks for it, and stands before it. `isCalled` says of
 * a tool that the intent calls it by its id or its name in one word: that one is what was asked
 * for, and stays. `most` is what a tool can have that is not called so.
 */
export function behindSuccessors(
  ranked: readonly Ranked[],
  toolsOf: (server: string) => readonly Tool[],
  isCalled: (tool: Tool) => boolean,
  most: number,
): Ranked[] {
  const old = ranked.filter(({ tool }) => isDeprecated(tool) && !isCalled(tool))
  if (old.length === 0) return [...ranked]
  const next = new Map(ranked.map((each) => [each.tool, each]))
  for (const { tool, evidence: own } of old) {
    const evidence = Math.min(own, most)
    const successor = successorOf(tool, toolsOf(tool.server))
    if (successor !== undefined) {
      const taken = Math.max(evidence, next.get(successor)?.evidence ?? 0)
      next.set(successor, { tool: successor, evidence: taken })
    }
    next.set(tool, { tool, evidence: deprecatedShare * evidence })
  }
  return [...next.values()].sort(byEvidence)
}

export function byEvidence({ evidence: left }: Ranked, { evidence: right }: Ranked): number {
  return left === right ? 0 : left < right ? 1 : -1
}

/**
 * A name that is a word of a language too ("search") counts only where it is quoted or said to be
 * used.
 */
function successorOf(tool: Tool, others: readonly Tool[]): Tool | undefined {
  const words = tool.description.split(/[\s,;()]+/).map((word) => word.replace(/[.:!?]+$/, ''))
  const names = new Set(
    words.flatMap((word, at) => {
      const bare = word.replace(/^[`'"]|[`'"]$/g, '').replace(/^.*:/, '')
      const isName = bare !== word || /[_\d-]|[a-z][A-Z]/.test(bare) || /^(?:use|by|of)$/i.test(words[at - 1] ?? '')
      return isName ? [bare] : []
    }),
  )
  return others.find((other) => other !== tool && names.has(other.name) && !isDeprecated(other))
}
