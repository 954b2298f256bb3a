/** Learning beside what this process does: the record is followed, and what it taught can be read. */
export { type Following, foldBeforePurge, followRecord } from './follow-record.ts'
