/**
 * The chains in the SQLite database: write requests enter, one transaction commits them, and their
 * acknowledgements leave. Refuses a write by a process that does not own the run at this epoch and
 * head, and a database that it cannot trust.
 */
export { entriesOf, ownedByAnother, type RunTakeover, requestKeyConflict } from './apply.ts'
export type { OwnedHeads } from './chain-head.ts'
export { brokenChain, chainQuery, firstEvents } from './chain-query.ts'
export { checkpointIsDue, checkpointText, type Heads, mendCheckpoints } from './checkpoint.ts'
export { closeLedger, commit } from './commit.ts'
export { bodyText, firstHash, isBlobReference, lineHash, lineHead, lineText } from './event-line.ts'
export { blobOf, parseEvent } from './parse-event.ts'
export { type PurgedBy, purgeText } from './purge.ts'
export { suspendedStatus } from './run-status.ts'
export { openForReading, prepareDatabase, refuseNewer } from './schema.ts'
export { homePins, indexedHomeEvents, pinnedTool, schemaFault } from './tables.ts'
export { type Ledger, lastSeq, openLedger } from './transaction.ts'
export { maintainWal } from './wal.ts'
export type {
  Ack,
  ApprovalChange,
  ApprovalEnd,
  ChainWrite,
  Entries,
  Expected,
  PrecomputedLines,
  Request,
  WriteRequest,
} from './write-request.ts'
