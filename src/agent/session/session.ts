/**
 * A session as its record has it: what is shown of it, its files in the workspace, and whether
 * these are what the record says. Writes nothing but projections of the record.
 */
export { isSession, readSession, statusOf } from './read-session.ts'
export type { SessionRecord } from './session-books.ts'
export { projectSession } from './session-files.ts'
export { sessionPage } from './session-page.ts'
export { type SessionView, viewSession } from './session-view.ts'
export { verifySession } from './verify-session.ts'
