/**
 * Artifacts: content of an announced size enters and is stored once; an address with a digest
 * leaves. Refuses a name, type or size that is not valid, and bytes that differ from what was
 * announced or recorded. A driver is one file here that implements `Artifacts`.
 */
export { type ArtifactInput, type Artifacts, parseArtifactAddress } from './artifact.ts'
export { artifactFault } from './artifact-check.ts'
export { openArtifactFolder } from './artifact-folder.ts'
export { type ArtifactsAddress, artifactsAddress, openArtifacts, openBucket, storedEvent } from './open-artifacts.ts'
export type { Body } from './s3-bucket.ts'
