/**
 * The search index. In come the tools of each server; out comes an index of their words and names,
 * with the tokenizer, stemmer and synonyms that queries must share with it. It refuses no text:
 * what has no words is found by none.
 */
export { codeDigest } from './code-digest.ts'
export { wordWeight } from './common-words.ts'
export { buildIndex, type Index, openIndexer, type Segment } from './indexer.ts'
export { isCalledBy, isOneEdit, matchByName } from './match-names.ts'
export type { Postings } from './postings.ts'
export { searchFields } from './search-fields.ts'
export { stem } from './stem.ts'
export { synonymGroup, synonymGroups } from './synonyms.ts'
export { contentWords, stemOf, tokenize } from './tokenize.ts'
