/** What a search reads: the words of all tools, and one segment for each server. */
import type { Tool } from '#model'
import type { Names } from './match-names.ts'
import type { Postings } from './postings.ts'
import type { Vocabulary } from './vocabulary.ts'

export type Segment = Postings & { server: string; tools: readonly Tool[]; names: Names }
export type Index = {
  vocabulary: Vocabulary
  segments: readonly Segment[] /** How many, in all segments. */
  tools: number
}

/** The tools of each server. */
export type Lists = ReadonlyMap<string, readonly Tool[]>
