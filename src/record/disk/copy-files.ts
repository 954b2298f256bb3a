/** Copies files so that they survive a power cut, readable by their owner only. */
import { closeSync, copyFileSync, fchmodSync, fsyncSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from './sync-folder.ts'

/** A folder with all that is in it. */
export function copyFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const copy = entry.isDirectory() ? copyFolder : copyFile
    if (entry.isDirectory() || entry.isFile()) copy(join(from, entry.name), join(to, entry.name))
  }
  syncFolder(to)
}

export function copyFile(from: string, to: string): void {
  copyFileSync(from, to)
  const descriptor = openSync(to, 'r+')
  try {
    fchmodSync(descriptor, 0o600)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
