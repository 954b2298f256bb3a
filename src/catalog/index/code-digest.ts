/**
 * The digest of the catalogue's own source code: part of the key of every file that is derived from
 * tools by code, so that a cache written by another version of it is never read.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

let cached: string | null = null

/**
 * Of src/catalog with all its rooms. Weights, stems, synonyms and stop words are code, and so is
 * what makes a tool's digest.
 */
export function codeDigest(): string {
  if (cached !== null) return cached
  const folder = dirname(dirname(import.meta.filename))
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const digest = createHash('sha256')
  for (const name of names.filter((name) => /(?<!\.test)\.[jt]s$/.test(name)).sort())
    digest.update(readFileSync(join(folder, name)))
  cached = digest.digest('hex')
  return cached
}
