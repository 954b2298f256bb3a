/** Learning beside what this process does: it follows the record, and folds before a purge. */
export { foldBeforePurge, followRecord } from './follow-record.ts'
