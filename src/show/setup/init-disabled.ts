/**
 * Which servers a host knows and does not use: beside the server itself, each host has places of
 * its own that say so.
 */
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '#model'
import { claudeFile, claudeSettings, geminiFile, type Place, projectKeys } from './connect-hosts.ts'

/** A server as a file of its host names it. */
export type NamedServer = { file: string; keys: string[]; name: string; value: Json }

/** Why a server of that name, of that file, is not used; null where it is. */
type WhyOff = (name: string, file: string) => string | null

/** What stands in a file; null where there is none, or none that can be read. */
type Read = (file: string) => Json

/** `named` in the order of the host's files, those of the project first. */
export function openSwitches(host: string, place: Place, named: readonly NamedServer[], read: Read): WhyOff {
  const elsewhere = named.length === 0 ? undefined : lists[host]?.(place, read)
  return (name, file) => switchedOff(named, name, file) ?? elsewhere?.(name, file) ?? null
}

/**
 * Hosts lay the files of a project over those of the person: the nearest that says something holds,
 * also where it says only that.
 */
function switchedOff(named: readonly NamedServer[], name: string, file: string): string | null {
  const said = named.find((other) => other.name === name && isOn(other.value) !== null)
  if (said === undefined || isOn(said.value)) return null
  return said.file === file ? 'it is switched off there' : `it is switched off in ${said.file}`
}

function isOn(value: Json): boolean | null {
  if (!isObject(value)) return null
  if (value.disabled === true || value.enabled === false) return false
  return value.disabled === false || value.enabled === true ? true : null
}

const lists: Record<string, (place: Place, read: Read) => WhyOff> = {
  /**
   * What a person switches off for a project, whatever it comes from; and what was refused of the
   * project's own file.
   */
  'claude-code': (place, read) => {
    const { folder } = place
    const own = claudeFile(place)
    const settings = ['settings.local.json', 'settings.json'].map((name) => join(folder, '.claude', name))
    const projects = projectKeys(folder).map((keys) => memberOf(read(own), ...keys))
    const refusals = [
      ...projects.map((value) => [own, value] as const),
      ...[...settings, claudeSettings(place)].map((file) => [file, read(file)] as const),
    ]
    return (name, file) => {
      if (projects.some((value) => has(memberOf(value, 'disabledMcpServers'), name)))
        return `it is switched off for this project ("disabledMcpServers" in ${own})`
      if (file !== join(folder, '.mcp.json')) return null
      const [from] = refusals.find(([, value]) => has(memberOf(value, 'disabledMcpjsonServers'), name)) ?? []
      return from === undefined ? null : `it was refused for this project ("disabledMcpjsonServers" in ${from})`
    }
  },
  /**
   * A list of the project takes the place of the person's. Names are the same there in small
   * letters and in large ones.
   */
  gemini: (place, read) => {
    const listed = (key: string) => {
      const files = [join(place.folder, '.gemini', 'settings.json'), geminiFile(place)]
      const file = files.find((each) => Array.isArray(memberOf(read(each), 'mcp', key)))
      const names = file === undefined ? [] : (memberOf(read(file), 'mcp', key) as Json[])
      return { file, names: names.map((name) => small(String(name))) }
    }
    const [allowed, excluded] = [listed('allowed'), listed('excluded')]
    const switches = geminiFile(place, 'mcp-server-enablement.json')
    return (name) => {
      if (allowed.names.length > 0 && !allowed.names.includes(small(name)))
        return `it is switched off ("mcp.allowed" in ${allowed.file} does not name it)`
      if (excluded.names.includes(small(name)))
        return `it is switched off ("mcp.excluded" in ${excluded.file} names it)`
      const isOff = memberOf(read(switches), small(name), 'enabled') === false
      return isOff ? `it is switched off in ${switches}` : null
    }
  },
}

const small = (name: string) => name.trim().toLowerCase()
const has = (list: Json | undefined, name: string) => Array.isArray(list) && list.includes(name)

/** What stands under these keys. */
export function memberOf(value: Json | undefined, ...keys: string[]): Json | undefined {
  return keys.reduce<Json | undefined>(
    (inner, key) => (isObject(inner) && Object.hasOwn(inner, key) ? (inner as JsonObject)[key] : undefined),
    value,
  )
}
