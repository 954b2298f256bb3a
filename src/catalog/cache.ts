/** What each server said last time, on disk, so that discover answers before any server has started. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '#model'
import type { Era, ToolDefinition } from './connect.ts'

export type Remembered = { definition: string; at: number; era: Era; tools: ToolDefinition[] }

/** Null where there is nothing, nothing readable, or something said by a server of another definition. */
export function recall(folder: string, server: string, definition: string): Remembered | null {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, `${server}.json`), 'utf8'))
    return isRemembered(value) && value.definition === definition ? value : null
  } catch {
    return null
  }
}

/** In one step, so that another process never reads a half. */
export function remember(folder: string, server: string, remembered: Remembered): void {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${server}.json`)
  const draft = `${file}.${process.pid}`
  writeFileSync(draft, JSON.stringify(remembered), { mode: 0o600 })
  renameSync(draft, file)
}

function isRemembered(value: unknown): value is Remembered {
  if (!isObject(value) || typeof value.definition !== 'string' || typeof value.at !== 'number') return false
  if (!isObject(value.era) || !Array.isArray(value.tools)) return false
  return value.tools.every((tool) => isObject(tool) && typeof tool.name === 'string' && isObject(tool.inputSchema))
}
