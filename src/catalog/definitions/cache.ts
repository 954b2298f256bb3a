/**
 * What each server said last time, on disk, so that discover answers before any server has started.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Era, ToolDefinition } from '#catalog/mcp'
import { isObject, limits, replaceFile, sha256, type Tool } from '#model'
import { type ListDigests, readDigests, type SeenList, writeDigests } from './digests-file.ts'

type Remembered = { definition: string; at: number; era: Era; tools: ToolDefinition[] }

/**
 * `kept` are the digests of the tools where there are so many that they are kept, and these are of
 * this very list.
 */
export type Recalled = Remembered & {
  kept: ListDigests | null
  /** Keeps the digests that had to be computed. */
  repair: ((tools: readonly Tool[]) => void) | null
}

/**
 * Null where there is nothing, nothing readable, or something said by a server of another
 * definition.
 */
export function recall(folder: string, server: string, definition: string): Recalled | null {
  try {
    const bytes = readFileSync(fileOf(folder, server))
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    if (!isRemembered(value) || value.definition !== definition) return null
    if (!isLarge(value.tools)) return { ...value, kept: null, repair: null }
    const of = sha256(bytes)
    const kept = readDigests(folder, server, of, value.tools.length)
    const repair = (tools: readonly Tool[]) =>
      writeDigests(folder, server, of, { digests: digestsOf(value.tools, tools), listed: null })
    return { ...value, kept, repair: kept === null ? repair : null }
  } catch {
    return null
  }
}

/**
 * In one step, so that another process never reads a half. `tools` are those of the same list,
 * `listed` the list as it came.
 */
export function remember(
  folder: string,
  server: string,
  remembered: Remembered,
  tools: readonly Tool[],
  listed: SeenList | null,
): void {
  mkdirSync(folder, { recursive: true })
  const text = JSON.stringify(remembered)
  replaceFile(fileOf(folder, server), text)
  if (!isLarge(remembered.tools)) return
  writeDigests(folder, server, sha256(text), { digests: digestsOf(remembered.tools, tools), listed })
}

const fileOf = (folder: string, server: string) => join(folder, `${server}.json`)
const isLarge = (tools: readonly unknown[]) => tools.length >= limits.digestsKeptToolsMin

/**
 * One for each definition of the list; a definition that is no tool, or the second of its name, has
 * one that is never asked for.
 */
function digestsOf(definitions: readonly ToolDefinition[], tools: readonly Tool[]): string[] {
  const byName = new Map(tools.map(({ name, digest }) => [name, digest]))
  return definitions.map(({ name }) => byName.get(name) ?? '0'.repeat(64))
}

function isRemembered(value: unknown): value is Remembered {
  if (!isObject(value) || typeof value.definition !== 'string' || typeof value.at !== 'number') return false
  if (!isObject(value.era) || !Array.isArray(value.tools)) return false
  return value.tools.every((tool) => isObject(tool) && typeof tool.name === 'string' && isObject(tool.inputSchema))
}
