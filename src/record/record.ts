/**
 * The record of a home: the store and its chains, their verification, secrets, blobs and artifacts.
 * Events enter and are durable when it says so; it refuses writes to a run by a process that does
 * not own it, and every record that it cannot verify.
 */

import type * as exporting from '#record/export'
import type * as verifying from '#record/verify'
import type * as restoring from './restore.ts'

export {
  type ArtifactInput,
  type Artifacts,
  type ArtifactsAddress,
  artifactsAddress,
  openArtifactFolder,
  openArtifacts,
  parseArtifactAddress,
  storedEvent,
} from '#record/artifacts'
export { homePaths, openSealedFile, publicKeyOf, readBlob, type SealedFile, signingKey, signText } from '#record/disk'
export { blobOf, ownedByAnother, requestKeyConflict } from '#record/ledger'
export type { SealedSecret, Secrets } from '#record/secrets'
export type { Chain, InboxItem } from './chain.ts'
export type { Arrival, RunRow, Stats } from './reader.ts'
export { openStore, type Store, type StoreOptions } from './store.ts'

/**
 * Loaded when they are asked for, which is seldom: they read all of the record, compress, sign and
 * copy.
 */
export const verify = async (...given: Parameters<typeof verifying.verify>) =>
  (await import('#record/verify')).verify(...given)
export function openVerifier(...given: Parameters<typeof verifying.openVerifier>) {
  let opened: Promise<ReturnType<typeof verifying.openVerifier>> | undefined
  const open = async () => (await import('#record/verify')).openVerifier(...given)
  return async () => {
    opened ??= open()
    return (await opened)()
  }
}
export const exportRun = async (...given: Parameters<typeof exporting.exportRun>) =>
  (await import('#record/export')).exportRun(...given)
export const restore = async (...given: Parameters<typeof restoring.restore>) =>
  (await import('./restore.ts')).restore(...given)

/** Hiding and revealing secrets: for what moves a run or a server, not for who looks. */
export const loadSecrets = () => import('#record/secrets')
