/**
 * A file in which one page is written and synced at a time, without ever growing: what durability
 * costs at least.
 */
import { fdatasyncSync, openSync, writeSync } from 'node:fs'

const pageBytes = 4096
const pages = 1024

export function openJournal(file: string): () => void {
  const page = Buffer.alloc(pageBytes)
  const journal = openSync(file, 'w')
  writeSync(journal, Buffer.alloc(pageBytes * pages))
  fdatasyncSync(journal)
  let written = 0
  return () => {
    writeSync(journal, page, 0, pageBytes, (written++ % pages) * pageBytes)
    fdatasyncSync(journal)
  }
}
