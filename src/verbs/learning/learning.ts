/** Learning beside what this process does: it follows the record, and advises from it. */
export { adviserOf, foldBeforeExpiry, foldBeforePurge, followRecord } from './follow-record.ts'
export { type LearningVerbs, openLearningVerbs } from './learning-verbs.ts'
