/** Replaces a file in one step: a reader sees the old content or the new one, never a part. */
import { closeSync, fchmodSync, fdatasyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { crypto } from './crypto.ts'

/** `isDurable`: on disk before it has its name; the name itself is, once its folder was synced. */
type ReplaceOptions = { mode?: number; isDurable?: boolean }

/** The draft lies beside the file, since a rename stays within one file system. */
export function replaceFile(
  file: string,
  content: string | Uint8Array,
  { mode = 0o600, isDurable = false }: ReplaceOptions = {},
): void {
  const draft = `${file}.${crypto().randomBytes(8).toString('hex')}`
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(descriptor, content)
    if (mode !== 0o600) fchmodSync(descriptor, mode)
    if (isDurable) fdatasyncSync(descriptor)
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
}
