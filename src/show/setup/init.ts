/**
 * `init`: the servers that other hosts know, copied into a configuration of our own, or moved
 * there.
 */
import { existsSync } from 'node:fs'
import { isObject, isSecretName, type Json, type JsonObject } from '#model'
import type { Command } from '#show/cli'
import { bad, counted, exit, faint, good, oneLine, strong, table, warn } from '#show/cli'
import { readDocument, writeDocument } from './connect-file.ts'
import { type Entry, hosts, placeOf } from './connect-hosts.ts'
import { type FoundServer, findServers } from './init-read.ts'
import { isHeld, moveOut, type Outcome } from './move-servers.ts'
import { target } from './server-commands.ts'

type Line = { server: string; host: string; file: string; state: 'imported' | 'there' | 'left'; why?: string }

export const init: Command = {
  group: 'Set up',
  usage: 'init [--move] [--print]',
  does: 'copy the servers that Claude, Cursor, VS Code, Codex, Gemini and opencode know; --move takes them out there',
  options: { move: { type: 'boolean' }, print: { type: 'boolean' } },
  unconfigured: true,
  words: [0, 0],
  run: async (context) => {
    const file = target(context)
    const document = existsSync(file) ? readDocument(file) : {}
    const found = findServers(placeOf(context))
    const { lines, added } = choose(found.servers, document)
    const shown = context.options.print === true
    const next = merged(document, added)
    const written = !shown && (Object.keys(added).length > 0 || !existsSync(file))
    if (written) writeDocument(file, next)
    const moved = context.options.move === true ? moveAll(found.servers, lines, next, !shown) : []
    const secrets = Object.entries(added).flatMap(([name, entry]) => secretsOf(name, entry))
    if (context.json) {
      const config = shown ? { config: next } : {}
      const files = { files: found.files, moved }
      context.print(JSON.stringify({ file, written, servers: lines, ...files, secrets, ...config }))
    } else {
      if (shown) context.print(JSON.stringify(next, null, 2))
      else context.print(told(file, written, lines))
      if (shown) for (const line of lines) if (line.state === 'left') context.note(leftOut(line))
      for (const { file: from, error } of found.files)
        if (error !== undefined) context.note(`${bad('✗')} Cannot read ${from}: ${error}`)
      if (written && secrets.length > 0)
        context.note(
          warn(
            `${file} now holds secrets (${secrets.join(', ')}): write \${VARIABLE} in their place, or keep it to yourself`,
          ),
        )
      for (const line of movedLines(moved, shown)) context.note(line)
      if (!shown && context.options.move !== true && lines.some(({ state }) => state !== 'left'))
        context.note(warn(stillThere))
    }
    return moved.some(({ error }) => error !== undefined) ? exit.failed : exit.done
  },
}

const stillThere =
  'They are copies: your hosts still have these servers, and can call them without Métier. "metier init --move" takes them out there, "metier disconnect HOST" puts them back.'

/** Only what our configuration has as it is written there is taken out. */
function moveAll(found: readonly FoundServer[], lines: readonly Line[], ours: JsonObject, write: boolean): Outcome[] {
  const known = { ...section(ours, 'servers'), ...section(ours, 'mcpServers') }
  const held = found.filter((server, at) => 'entry' in server && isHeld(known[lines[at]!.server], server.entry))
  const byFile = Map.groupBy(held, ({ host, file }) => `${host} ${file}`)
  return [...byFile.values()].map((servers) => {
    const host = hosts.find(({ name }) => name === servers[0]!.host)!
    return moveOut(host, servers[0]!.file, servers, write)
  })
}

function movedLines(moved: readonly Outcome[], isShown: boolean): string[] {
  return moved.map(({ file, servers, error }) => {
    if (error !== undefined) return `${bad('✗')} ${file} stays as it is: ${error}`
    return `${isShown ? faint('→') : good('→')} ${servers.join(', ')} ${isShown ? 'would be' : 'is'} taken out of ${file}`
  })
}

/**
 * What is there stays as it is; of two servers with one name the later gets the name of its host
 * beside it.
 */
function choose(found: readonly FoundServer[], document: JsonObject): { lines: Line[]; added: Record<string, Entry> } {
  const known = { ...section(document, 'servers'), ...section(document, 'mcpServers') }
  const added: Record<string, Entry> = {}
  const lines = found.map((server): Line => {
    const { host, file } = server
    const plain = server.name.replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    if ('why' in server) return { server: plain, host, file, state: 'left', why: server.why }
    const names = [plain, `${plain}-${host}`]
    const same = names.find((name) => JSON.stringify(added[name]) === JSON.stringify(server.entry))
    if (same !== undefined) return { server: same, host, file, state: 'there' }
    if (Object.hasOwn(known, plain)) return { server: plain, host, file, state: 'there' }
    const free = names.find((name) => !Object.hasOwn(added, name) && !reserved.has(name))
    if (free === undefined) return { server: plain, host, file, state: 'left', why: 'its name is taken' }
    added[free] = server.entry
    return { server: free, host, file, state: 'imported' }
  })
  return { lines, added }
}

const reserved = new Set(['cap', 'code', 'home', '__proto__', 'constructor', 'prototype', ''])

function section(document: JsonObject, key: string): Record<string, Json> {
  return isObject(document[key]) ? (document[key] as JsonObject) : {}
}

function merged(document: JsonObject, added: Record<string, Entry>): JsonObject {
  const key = isObject(document.servers) && !isObject(document.mcpServers) ? 'servers' : 'mcpServers'
  return { ...document, [key]: { ...section(document, key), ...added } }
}

/** Where values stand that look like secrets; never the values. */
function secretsOf(name: string, entry: Entry): string[] {
  const pairs = Object.entries('url' in entry ? entry.headers : entry.env)
  return pairs.filter(([key, value]) => isSecretName(key) && !value.includes('${')).map(([key]) => `${name}: ${key}`)
}

/** Beside a configuration that is only shown. */
function leftOut({ server, host, why }: Line): string {
  return faint(`- ${server} of ${host} is left out: ${oneLine(why ?? '')}`)
}

function told(file: string, written: boolean, lines: Line[]): string {
  const marks = { imported: good('+'), there: faint('='), left: faint('-') }
  const rows = lines.map(({ server, host, state, why, file: from }) => [
    `${marks[state]} ${server}`,
    host,
    faint(why ?? oneLine(from)),
  ])
  const count = lines.filter(({ state }) => state === 'imported').length
  const more = count === 0 ? 'is new and names no server yet' : `has ${counted(count, 'more server')}`
  const end = written ? `${strong(file)} ${more}` : `${strong(file)} stays as it is`
  const next = 'Next: "metier doctor" looks whether they answer, "metier connect HOST" lets a host use them.'
  return [
    ...(rows.length === 0 ? ['No server was found in the configurations of other hosts.'] : [table(rows)]),
    end,
    ...(written && count > 0 ? [faint(next)] : []),
  ].join('\n')
}
