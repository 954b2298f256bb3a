/**
 * Takes servers out of the files of other hosts, and puts them back. What a file was before and
 * after stands beside it, in `FILE.metier-moved`: where nothing else changed meanwhile, the file
 * comes back byte for byte; else the servers do.
 */
import { existsSync, rmSync } from 'node:fs'
import { isDeepStrictEqual, isObject, type Json, type JsonObject, parseJsonc } from '#model'
import { readText, writeText } from './connect-file.ts'
import type { Host } from './connect-hosts.ts'
import { withEntry, withoutEntry } from './connect-json.ts'
import { withTable } from './connect-toml.ts'
import { memberOf } from './init-disabled.ts'

/** A server as it stands in a file: under these keys, by this name. */
type Moved = { keys: string[]; name: string }
type MovedServer = Moved & { value: Json }
type Move = { before: string; after: string; servers: MovedServer[] }
export type Outcome = { file: string; servers: string[]; error?: string }

const keptIn = (file: string) => `${file}.metier-moved`

/**
 * With `write` false it is only tried. A file that is not understood is left as it is, and why is
 * said.
 */
export function moveOut(host: Host, file: string, servers: readonly Moved[], write: boolean): Outcome {
  const names = servers.map(({ name }) => name)
  try {
    const before = readText(file)
    const after = servers.reduce((text, server) => without(host, text, server), before)
    const root = host.format === 'toml' ? null : parseJsonc(before)
    const kept = servers.map((server) => ({ ...server, value: memberOf(root, ...server.keys, server.name) ?? null }))
    if (write) {
      const moves: Move[] = [...movesOf(file), { before, after, servers: kept }]
      writeText(keptIn(file), `${JSON.stringify(moves)}\n`)
      writeText(file, after)
    }
    return { file, servers: names }
  } catch (error) {
    return { file, servers: [], error: (error as Error).message }
  }
}

function without({ format }: Host, text: string, { keys, name }: Moved): string {
  return format === 'toml' ? (withTable(text, [...keys, name].join('.'), null) ?? '') : withoutEntry(text, keys, name)
}

/** What was moved out of the file, last first; answers null where nothing was. */
export function moveBack(host: Host, file: string, write: boolean): Outcome | null {
  const moves = movesOf(file)
  if (moves.length === 0) return null
  const names = [...new Set(moves.flatMap(({ servers }) => servers.map(({ name }) => name)))]
  try {
    const text = moves.reduceRight((now, move) => undone(host, now, move), existsSync(file) ? readText(file) : '')
    if (write) {
      writeText(file, text)
      rmSync(keptIn(file))
    }
    return { file, servers: names }
  } catch (error) {
    const where = `what it had before is in ${keptIn(file)}`
    return { file, servers: [], error: `${(error as Error).message}; ${where}` }
  }
}

function undone(host: Host, text: string, { before, after, servers }: Move): string {
  if (text === after || text === before) return before
  if (host.format === 'toml') throw new Error('it was changed since the servers were taken out')
  return servers.reduce((now, { keys, name, value }) => {
    if (memberOf(parseJsonc(now), ...keys, name) !== undefined) return now
    if (keys.length > 1 || !isObject(value)) throw new Error(`it was changed since "${name}" was taken out`)
    return withEntry(now, keys[0]!, name, value as JsonObject) ?? now
  }, text)
}

function movesOf(file: string): Move[] {
  if (!existsSync(keptIn(file))) return []
  const moves: unknown = JSON.parse(readText(keptIn(file)))
  return Array.isArray(moves) ? (moves as Move[]) : []
}

/**
 * Whether our own configuration has exactly this server, so that nothing is lost where it is taken
 * out.
 */
export function isHeld(ours: Json | undefined, entry: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(ours ?? null)), JSON.parse(JSON.stringify(entry)))
}
