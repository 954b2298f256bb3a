/**
 * The files of a home folder: paths, keys, sealed texts, blobs and process locks enter and leave as
 * values; what it wrote survives a power cut. Refuses changed bytes and reports every failure of
 * SQLite or the file system as an AppError.
 */
export { type HomePaths, homePaths } from '#model'
export { type BlobBytes, openBlob, readBlob, readBlobStart, writeBlob } from './blobs.ts'
export { copyFile, copyFolder } from './copy-files.ts'
export { digestOfFile, piecesOf } from './file-digest.ts'
export { createHome, refuseHalfRestored } from './home.ts'
export {
  isSigned,
  knownPublicKey,
  knownSealingKey,
  publicKeyOf,
  sealingKey,
  signBytes,
  signingKey,
  signText,
} from './keys.ts'
export { isProcessAlive, lockProcess, removeDead, removeLock } from './process-lock.ts'
export { openSealed, sealContext, sealText } from './seal.ts'
export { openSealedFile, type SealedFile } from './sealed-file.ts'
export { isBusy, isDiskError, isFull, storeError } from './store-error.ts'
export { syncFolder } from './sync-folder.ts'
