/**
 * The digests of a large list of tools, on disk beside the list, so that the next process need not
 * compute them.
 *
 *   {"of":"<sha256>","code":"<sha256>","listed":{…}|null,"digest":"<sha256>"}\n<payload>
 *
 * `of` is the digest of the file that holds the list, `code` that of the code that computes
 * digests, `digest` that of the payload: 32 bytes for each tool, in the order of the list. A file
 * that does not match in all three is not used, and is replaced. What is called is never judged by
 * these alone: the definition that its server lists is digested before it is sent.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeDigest } from '#catalog/index'
import { isObject, replaceFile, sha256 } from '#model'
import type { PinAnchor } from './pins.ts'

/**
 * The list as the server sent it, and where the record stood when every tool of it had been put on
 * it.
 */
export type SeenList = { digest: string; anchor: PinAnchor }
export type ListDigests = { digests: readonly string[]; listed: SeenList | null }

const digestBytes = 32
const hexCharacters = 2 * digestBytes

/** Null where there are none for this list, or none that can be read. */
export function readDigests(folder: string, server: string, of: string, count: number): ListDigests | null {
  try {
    const bytes = readFileSync(fileOf(folder, server))
    const end = bytes.indexOf(10)
    const header = JSON.parse(bytes.toString('utf8', 0, end)) as Record<string, unknown>
    const payload = bytes.subarray(end + 1)
    if (header.of !== of || header.code !== codeDigest() || header.digest !== sha256(payload)) return null
    if (payload.length !== count * digestBytes) return null
    const text = payload.toString('hex')
    const at = (place: number) => text.slice(place * hexCharacters, (place + 1) * hexCharacters)
    const listed = isObject(header.listed) ? (header.listed as SeenList) : null
    return { digests: Array.from({ length: count }, (_, place) => at(place)), listed }
  } catch {
    return null
  }
}

/** In one step, so that another process never reads a half. */
export function writeDigests(folder: string, server: string, of: string, { digests, listed }: ListDigests): void {
  const payload = Buffer.from(digests.join(''), 'hex')
  const header = JSON.stringify({ of, code: codeDigest(), listed, digest: sha256(payload) })
  mkdirSync(folder, { recursive: true })
  replaceFile(fileOf(folder, server), Buffer.concat([Buffer.from(`${header}\n`), payload]))
}

const fileOf = (folder: string, server: string) => join(folder, `${server}.digests`)
