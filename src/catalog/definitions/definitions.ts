/**
 * What servers say their tools are: made into `Tool`, pinned by digest on the record, cached on
 * disk. In go definitions as they were listed; out come tools. A tool that changed and can do harm
 * is refused until a human accepts it.
 */
export { forAgents, listForAgents } from './agent-view.ts'
export { type Recalled, recall, remember } from './cache.ts'
export { canonicalDigest, effectOf, isReadable, serverDigest, toTools } from './definition.ts'
export { applyDiff } from './diff.ts'
export { openLastList } from './last-list.ts'
export { type PinRecord, Pins } from './pins.ts'
