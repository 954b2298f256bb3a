/** The hosts that can use Métier: where each keeps its servers, and how it writes one down. */
import { join } from 'node:path'
import type { JsonObject } from '#model'
import type { Context } from '#show/cli'

/** A server as the configurations of hosts describe it, in our own words. */
export type Entry =
  | { command: string; args: string[]; env: Record<string, string>; cwd?: string }
  | { type: 'http' | 'sse'; url: string; headers: Record<string, string> }

/**
 * Where a person's things are: the home folder, the folder of the project, the system, and folders
 * that hosts were sent to.
 */
export type Place = { home: string; folder: string; platform: NodeJS.Platform } & Context['hostFolders']

export function placeOf({ surroundings, hostFolders }: Context): Place {
  const folder = process.cwd()
  return { home: surroundings.home ?? folder, folder, platform: process.platform, ...hostFolders }
}

export type Host = {
  name: string
  /** Those of the project first. */
  files(place: Place): string[]
  /** The one that `connect` writes; null where that has to be done by hand. */
  own: ((place: Place) => string) | null
  format: 'json' | 'toml'
  /** Under which keys the servers stand; a project's own stand under `projects`. */
  keys(folder: string): string[][]
  /** What a plain `url` means there. */
  address: 'http' | 'sse'
  /** Whether it reads `$NAME` as a variable too. */
  hasBareVariables?: true
  /** How the host writes down a server. */
  written(entry: Entry): JsonObject
}

const plain = (entry: Entry): JsonObject =>
  'url' in entry ? { type: entry.type, url: entry.url } : { command: entry.command, args: entry.args }
const untyped = (entry: Entry): JsonObject => ('url' in entry ? { url: entry.url } : plain(entry))

/** Where desktop programs keep their settings. */
function settings({ home, platform }: Place, ...parts: string[]): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', ...parts)
  return platform === 'win32' ? join(home, 'AppData', 'Roaming', ...parts) : join(home, '.config', ...parts)
}

export const claudeFile = ({ home, claude }: Place) => join(claude ?? home, '.claude.json')
export const claudeSettings = ({ home, claude }: Place) => join(claude ?? join(home, '.claude'), 'settings.json')
const desktopFile = (place: Place) => settings(place, 'Claude', 'claude_desktop_config.json')
const cursorFile = ({ home }: Place) => join(home, '.cursor', 'mcp.json')
const codeFile = (place: Place) => settings(place, 'Code', 'User', 'mcp.json')
const codexFile = ({ home, codex }: Place) => join(codex ?? join(home, '.codex'), 'config.toml')
export const geminiFile = ({ home }: Place, name = 'settings.json') => join(home, '.gemini', name)
const opencodeFile = ({ home }: Place) => join(home, '.config', 'opencode', 'opencode.json')

/**
 * Where Claude Code keeps what it knows of a project; on Windows it writes the folder in either
 * way.
 */
export const projectKeys = (folder: string): string[][] =>
  [...new Set([folder, folder.replaceAll('\\', '/')])].map((key) => ['projects', key])

export const hosts: readonly Host[] = [
  {
    name: 'claude-code',
    files: (place) => [join(place.folder, '.mcp.json'), claudeFile(place)],
    own: claudeFile,
    address: 'http',
    format: 'json',
    keys: (folder) => [['mcpServers'], ...projectKeys(folder).map((keys) => [...keys, 'mcpServers'])],
    written: (entry) => ('url' in entry ? plain(entry) : { type: 'stdio', ...plain(entry) }),
  },
  {
    name: 'claude-desktop',
    files: (place) => [desktopFile(place)],
    own: null,
    address: 'http',
    format: 'json',
    keys: () => [['mcpServers']],
    written: plain,
  },
  {
    name: 'cursor',
    files: (place) => [join(place.folder, '.cursor', 'mcp.json'), cursorFile(place)],
    own: cursorFile,
    address: 'http',
    format: 'json',
    keys: () => [['mcpServers']],
    written: untyped,
  },
  {
    name: 'vscode',
    files: (place) => [join(place.folder, '.vscode', 'mcp.json'), codeFile(place)],
    own: codeFile,
    address: 'http',
    format: 'json',
    keys: () => [['servers']],
    written: (entry) => ('url' in entry ? plain(entry) : { type: 'stdio', ...plain(entry) }),
  },
  {
    name: 'codex',
    files: (place) => [join(place.folder, '.codex', 'config.toml'), codexFile(place)],
    own: codexFile,
    address: 'http',
    format: 'toml',
    keys: () => [['mcp_servers']],
    written: untyped,
  },
  {
    name: 'gemini',
    files: (place) => [join(place.folder, '.gemini', 'settings.json'), geminiFile(place)],
    own: geminiFile,
    address: 'sse',
    hasBareVariables: true,
    format: 'json',
    keys: () => [['mcpServers']],
    written: (entry) => ('url' in entry ? { httpUrl: entry.url } : plain(entry)),
  },
  {
    name: 'opencode',
    files: (place) => [join(place.folder, 'opencode.json'), opencodeFile(place)].flatMap((file) => [file, `${file}c`]),
    own: opencodeFile,
    address: 'http',
    format: 'json',
    keys: () => [['mcp']],
    written: (entry) =>
      'url' in entry
        ? { type: 'remote', url: entry.url, enabled: true }
        : { type: 'local', command: [entry.command, ...entry.args], enabled: true },
  },
]

/**
 * One of our own entries, which must never become an upstream of ours: we would start ourselves
 * without end.
 */
export function isOurs(name: string, entry: Entry): boolean {
  if (name === 'metier') return true
  if ('url' in entry) return /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]):7420\/mcp(?:\/|$)/.test(entry.url)
  return [entry.command, ...entry.args].some((word) => /(?:^|[\\/])metier(?:@[\w.^~-]+|\.cmd|\.exe)?$/.test(word))
}
