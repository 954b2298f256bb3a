/** The types of edges between tools and capabilities, and what each weighs by default. */
import { limits } from '#model'

export type EdgeType = 'dependency' | 'provides' | 'contains' | 'alternative' | 'sequence'

const percents: Record<EdgeType, number> = {
  dependency: limits.edgeDependencyPercent,
  provides: limits.edgeProvidesPercent,
  contains: limits.edgeContainsPercent,
  alternative: limits.edgeAlternativePercent,
  sequence: limits.edgeSequencePercent,
}

export const edgeWeight = (type: EdgeType) => percents[type] / 100
