/**
 * The record of a home: the store and its chains, their verification, secrets, blobs and artifacts. Events enter and are
 * durable when it says so; it refuses whoever does not own a run, and every record it cannot vouch for.
 */

import type * as exporting from './export-run.ts'
import type * as restoring from './restore.ts'

export { keyTaken, ownedByAnother } from './apply.ts'
export type { Asked } from './approvals.ts'
export { openArtifactFolder } from './artifact-folder.ts'
export { artifactName } from './artifact-name.ts'
export { type Artifact, type ArtifactInput, type Artifacts, parseArtifactAddress } from './artifacts.ts'
export { readBlob } from './blobs.ts'
export type { Chain, InboxItem, SealedSecret } from './chain.ts'
export type { Exported } from './export-run.ts'
export { homePaths } from './home.ts'
export { publicKeyOf, signingKey, signText } from './keys.ts'
export { blobOf } from './parse-event.ts'
export type { RunRow, Stats } from './reader.ts'
export type { Restored } from './restore.ts'
export { openSealedFile, type SealedFile } from './sealed-file.ts'
export { openSecrets, placeholderSeed, redactKnown, type Secrets, type SecretsOptions } from './secrets.ts'
export { openStore, type Store, type StoreOptions } from './store.ts'
export { openVerifier, type RecentVerdict } from './verifier.ts'
export { type Verdict, verify } from './verify.ts'

/** Loaded when they are asked for, which is seldom: they compress, sign and copy. */
export const exportRun = async (...given: Parameters<typeof exporting.exportRun>) =>
  (await import('./export-run.ts')).exportRun(...given)
export const restore = async (...given: Parameters<typeof restoring.restore>) =>
  (await import('./restore.ts')).restore(...given)
