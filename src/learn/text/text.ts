/** Texts as terms: stems, alignment of two intents, BM25 over small texts. */
export { alignWords, isValueLike, plainWord, wordsOf } from './align-words.ts'
export { indexTexts } from './text-index.ts'
export { dice, isSmallWord, overlap, type Specificity, specificityOf, stemsOf } from './words.ts'
