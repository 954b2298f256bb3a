/**
 * What the author of a program says about it where it cannot be read from it: `// @metier-depends:
 * ["fs:read"]`.
 */
import type { Comment } from 'acorn'
import { limits } from '#model'
import type { Annotation } from './node.ts'
import type { Syntax } from './syntax.ts'

const form = /@(?:metier|pml)-(depends|branches)\s*:?\s*(\[[^\]]*\]|[^\n*]*)/g

export function annotationsOf({ comments, placeOf }: Pick<Syntax, 'comments' | 'placeOf'>): Annotation[] {
  const found = comments.flatMap((comment) =>
    [...comment.value.matchAll(form)].map((match) => read(comment, match, placeOf)),
  )
  return found.filter(({ names }) => names.length > 0).slice(0, limits.structureAnnotationsMax)
}

function read(comment: Comment, match: RegExpExecArray, placeOf: Syntax['placeOf']): Annotation {
  const [, kind, list] = match
  const names = namesIn(list!).slice(0, limits.structureAnnotationsMax)
  return { kind: kind as Annotation['kind'], names, line: placeOf(comment.start + match.index).line }
}

/** A JSON list, or words with commas or blanks between them. */
function namesIn(list: string): string[] {
  const words = list.replace(/^\[|\]$/g, '').split(/[\s,]+/)
  return words.map((word) => word.replace(/^["'`]|["'`]$/g, '')).filter((word) => word !== '')
}
