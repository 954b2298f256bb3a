/**
 * The search index of a large catalogue on disk, beside what the servers said, so that the next
 * process need not build it.
 *
 *   {"key":"<sha256>","digest":"<sha256>"}\n<payload>
 *
 * `key` is the digest of all that the index is derived from: the tools in their order, the code
 * that reads them, the engine that writes the payload. `digest` is that of the payload, which is
 * the index as V8 serializes it: nearly all of it typed arrays, which are read as they are. A file
 * that does not match in both is no index; it is replaced by the next one that is built.
 */

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { replaceFile, sha256 } from '#model'
import { codeDigest } from './code-digest.ts'
import { type NamesParts, namesParts, readNames } from './match-names.ts'
import type { Index, Lists, Segment } from './search-index.ts'
import { Vocabulary, type VocabularyParts } from './vocabulary.ts'

type Stored = {
  vocabulary: VocabularyParts
  /** In the order of the lists, without what is known from them. */
  segments: (Omit<Segment, 'tools' | 'names'> & { names: NamesParts })[]
}

/** Tools that are digested together: one by one takes three times as long. */
const keyBatch = 1024

/** The same key means the same index, in whichever process it is built. */
export function indexKey(lists: Lists): string {
  const key = createHash('sha256').update(`${codeDigest()}\n${process.versions.v8}\n`)
  for (const [server, tools] of lists) {
    key.update(JSON.stringify([server, tools.length]))
    for (let at = 0; at < tools.length; at += keyBatch) {
      const lines = tools.slice(at, at + keyBatch).map(({ id, digest, observed }) => {
        return `${id.length} ${id} ${digest.length} ${digest} ${observed === undefined ? '' : JSON.stringify(observed)}\n`
      })
      key.update(lines.join(''))
    }
  }
  return key.digest('hex')
}

/** Null where there is none for this key, or none that can be read. */
export function readIndex(folder: string, key: string, lists: Lists): Index | null {
  try {
    const bytes = readFileSync(fileIn(folder))
    const end = bytes.indexOf(10)
    const header = JSON.parse(bytes.toString('utf8', 0, end)) as { key?: unknown; digest?: unknown }
    const payload = bytes.subarray(end + 1)
    if (header.key !== key || header.digest !== sha256(payload)) return null
    return indexOf(deserialize(payload) as Stored, lists)
  } catch {
    return null
  }
}

/** In one step, so that another process never reads a half. */
export function writeIndex(folder: string, key: string, { vocabulary, segments }: Index): void {
  const stored: Stored = {
    vocabulary: vocabulary.parts(),
    segments: segments.map(({ tools: _, names, ...rest }) => ({ ...rest, names: namesParts(names) })),
  }
  const payload = serialize(stored)
  const header = JSON.stringify({ key, digest: sha256(payload) })
  mkdirSync(folder, { recursive: true })
  replaceFile(fileIn(folder), Buffer.concat([Buffer.from(`${header}\n`), payload]))
}

function indexOf({ vocabulary, segments }: Stored, lists: Lists): Index {
  const withTools = segments.map((segment): Segment => {
    const tools = [...lists.get(segment.server)!]
    return { ...segment, names: readNames(segment.names), tools }
  })
  const tools = withTools.reduce((sum, segment) => sum + segment.tools.length, 0)
  return { vocabulary: Vocabulary.of(vocabulary), segments: withTools, tools }
}

/** No server is named so: a name has no dot at its start. */
const fileIn = (folder: string) => join(folder, '.search-index')
