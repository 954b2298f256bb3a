/**
 * Compares a stored artifact with what the record says of it: its bytes, its name, and the card
 * that lies beside it.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EventBodies, isUuid } from '#model'
import { digestOfFile } from '#record/disk'
import { artifactCardName } from './artifact-folder.ts'
import { artifactName } from './artifact-name.ts'

type Stored = EventBodies['artifact.stored']

/**
 * Null where all of it is as recorded; else what is not. Asked only about artifacts of the home.
 */
export function artifactFault(folder: string, { id, name, bytes, digest }: Stored): string | null {
  if (!isUuid(id) || artifactName(name) !== name) return 'it names no place of an artifact'
  try {
    const found = digestOfFile(join(folder, id, name))
    if (found.bytes !== bytes || found.digest !== digest) return `its artifact ${id} was changed`
    const card = JSON.parse(readFileSync(join(folder, id, artifactCardName), 'utf8')) as Stored
    const isSame = card.id === id && card.name === name && card.bytes === bytes && card.digest === digest
    return isSame ? null : `the card of its artifact ${id} was changed`
  } catch (error) {
    return `its artifact ${id} cannot be read: ${(error as Error).message}`
  }
}
